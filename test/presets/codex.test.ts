import { command, commandOf, every, hangs, lasts, result } from "../aRun.ts";
import { goesOn, handedBack, preset, runs, waits, wentOn } from "./preset.ts";

preset("codex", [
  ["a silent command is given back alive at 10 s", runs("make", hangs()), handedBack(10, "cap_reached")],
  [
    "a chatty one too: output neither ends nor extends it",
    runs("make", hangs(every(1))),
    handedBack(10, "cap_reached"),
  ],
  [
    "one of 10 s comes back with its result",
    runs("make", lasts(10)),
    { status: "completed", elapsed_seconds: 10, exit_code: 0 },
  ],
  ["a yield of 20 s is granted", runs("make", hangs(), 20), handedBack(20, "cap_reached")],
  [
    "one of 600 s is cut to 30 s, and the process lives",
    runs("make", hangs(), 600),
    { ...handedBack(30, "cap_reached"), clamp_reasons: ["hard_timeout_max"] },
  ],
  ["what is given back goes on under its id, and loses no output", goesOn, wentOn],
  [
    "a wait that names no length is raised to 5 s",
    waits(undefined),
    { status: "running", requested_wait_seconds: 0.25, effective_wait_seconds: 5, wait_raised: true },
  ],
  [
    "one of 600 s is cut to 300 s",
    waits(600),
    { status: "running", effective_wait_seconds: 300, clamp_reasons: ["process_poll_max_wait"] },
  ],
  [
    "output does not end a wait early, an exit does",
    waits(200, { phase: lasts(100, every(1)) }),
    { status: "completed", elapsed_seconds: 100 },
  ],
  [
    "a command is never ended by time",
    function* (hands) {
      result(yield* hands.exec(command(lasts(15_000))));
      yield* hands.pass(15_000);
      return result(yield* hands.status(1));
    },
    { status: "completed", elapsed_seconds: 15_000 },
  ],
  [
    "of 64 processes the one used longest ago is ended for the 65th, and what has ended goes before it",
    function* (hands) {
      for (let nth = 0; nth < 64; nth += 1) {
        const phases = [nth === 40 ? lasts(1) : hangs()];
        result(yield* hands.exec(commandOf({ line: `job ${nth}`, phases }), { background: true }));
      }
      yield* hands.pass(10);
      result(yield* hands.status(1));
      for (const line of ["the 65th", "the 66th"]) {
        result(yield* hands.exec(commandOf({ line, phases: [hangs()] }), { background: true }));
      }
      const { processes } = result(yield* hands.list());
      const left = processes.map(({ process_id }) => process_id);
      return [left.length, ...["process-1", "process-2", "process-3", "process-41"].map((name) => left.includes(name))];
    },
    [64, true, false, true, false],
  ],
]);
