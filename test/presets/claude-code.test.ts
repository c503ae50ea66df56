import { command, every, hangs, lasts, result } from "../aRun.ts";
import { goesOn, handedBack, preset, runs, waits, wentOn } from "./preset.ts";

const stopped = (elapsed: number) => ({
  status: "timed_out",
  signal: "SIGTERM",
  elapsed_seconds: elapsed,
  auto_await_outcome: "terminated",
});

preset("claude-code", [
  ["a command is moved to the background at 120 s", runs("make", hangs(every(5))), handedBack(120, "cap_reached")],
  ["and goes on there under its id, with all its output", goesOn, wentOn],
  [
    "one of 120 s comes back with its result",
    runs("make", lasts(120)),
    { status: "completed", elapsed_seconds: 120, exit_code: 0 },
  ],
  [
    "a timeout that is asked for is when it is moved, and the result names it",
    runs("make", hangs(), 300),
    { ...handedBack(300, "cap_reached"), configured_auto_await_cap_seconds: 300 },
  ],
  [
    "above 600 s it is cut to that",
    runs("make", hangs(), 3_600),
    { ...handedBack(600, "cap_reached"), clamp_reasons: ["hard_timeout_max"] },
  ],
  ["a leading sleep is ended at its timeout instead", runs("sleep 300", lasts(300)), stopped(120)],
  ["so is whatever runs git", runs("cd app && git push origin main", hangs(), 60), stopped(60)],
  ["another one that only speaks of git is not", runs("echo git", hangs()), handedBack(120, "cap_reached")],
  [
    "what ends in the background after that keeps its exit code",
    function* (hands) {
      result(yield* hands.exec(command(lasts(650)), { timeout: 600 }));
      yield* hands.pass(60);
      return result(yield* hands.status(1));
    },
    { status: "completed", exit_code: 0, elapsed_seconds: 650 },
  ],
  [
    "the background has no limit of its own",
    waits(undefined, { before: 15_000 }),
    { status: "running", elapsed_seconds: 15_000 },
  ],
]);
