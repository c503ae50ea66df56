import { command, every, hangs, lasts, refusal, result } from "../aRun.ts";
import { goesOn, handedBack, isRefused, preset, runs, stopsStubborn, waitRefused, waits, wentOn } from "./preset.ts";

preset("kimi-code", [
  ["a command goes to the background at 60 s", runs("make", hangs(every(5))), handedBack(60, "cap_reached")],
  ["and goes on there under its id, with all its output", goesOn, wentOn],
  ["one of 60 s comes back with its result", runs("make", lasts(60)), { status: "completed", elapsed_seconds: 60 }],
  ["a timeout of 300 s is when it goes", runs("make", hangs(), 300), handedBack(300, "cap_reached")],
  [
    "one of more is refused by the schema",
    isRefused("make", 301),
    "timeout_seconds is 301: expected more than 0, up to 300",
  ],
  [
    "from then on 600 s are counted anew, and then it is killed",
    function* (hands) {
      result(yield* hands.exec(command(hangs()), { timeout: 100 }));
      yield* hands.pass(599.999);
      const before = result(yield* hands.status(1)).status;
      return [before, result(yield* hands.wait(1, 10))];
    },
    ["running", { status: "timed_out", elapsed_seconds: 700 }],
  ],
  [
    "what starts in the background is killed 600 s after its start",
    waits(600, { before: 100 }),
    { status: "timed_out", elapsed_seconds: 600 },
  ],
  [
    "unless it names its own timeout",
    function* (hands) {
      result(yield* hands.exec(command(hangs()), { background: true, timeout: 200 }));
      return result(yield* hands.wait(1, 300));
    },
    { status: "timed_out", elapsed_seconds: 200 },
  ],
  [
    "without the tools to read results it is killed at 60 s, 300 at most, and there is no background",
    function* (hands) {
      const usual = result(yield* hands.exec(command(hangs()), { canRead: false }));
      const most = result(yield* hands.exec(command(hangs()), { canRead: false, timeout: 900 }));
      const background = refusal(yield* hands.exec(command(hangs()), { canRead: false, background: true }));
      return [usual, most, background];
    },
    [
      { status: "timed_out", elapsed_seconds: 60 },
      { status: "timed_out", elapsed_seconds: 300, clamp_reasons: ["hard_timeout_max"] },
      "there is no background here: nothing could read what comes of it",
    ],
  ],
  ["a wait of 600 s is granted", waits(600, { phase: lasts(590) }), { status: "completed", elapsed_seconds: 590 }],
  ["a longer one is refused", waitRefused(601), "wait_sec is 601: a wait is at most 600 s"],
  ["a stop sends TERM, and KILL 5 s later", stopsStubborn, { status: "terminated", signal: "SIGKILL", took: 5 }],
]);
