import { commandOf, every, hangs, lasts, lines, result, serves } from "../aRun.ts";
import { preset, runs, waits } from "./preset.ts";

const silentFor = (elapsed: number) => ({
  status: "timed_out",
  silence_ended_it: true,
  elapsed_seconds: elapsed,
  auto_await_outcome: "not_needed",
  clamp_reasons: [],
});

preset("gemini-cli", [
  [
    "a silent command is ended at 300 s, and the result says that silence did it",
    runs("make", hangs()),
    silentFor(300),
  ],
  ["any output begins the 300 s anew", runs("make", hangs(lines([299, "a\n"], [400, "b\n"]))), silentFor(700)],
  [
    "what prints every 299 s is held to its end, however long that is",
    runs("make", lasts(10_000, every(299))),
    { status: "completed", elapsed_seconds: 10_000 },
  ],
  [
    "a silent command of 299 s comes back with its result, in its own call",
    runs("make", lasts(299)),
    { status: "completed", elapsed_seconds: 299, auto_await_outcome: "not_needed" },
  ],
  [
    "a server in the foreground that says one line is dead 300 s after it",
    runs("npm run dev", serves(2, lines([2, "ready\n", "ready"]))),
    { ...silentFor(302), output: "ready\n" },
  ],
  [
    "TERM is followed by KILL 200 ms later",
    function* (hands) {
      return result(yield* hands.exec(commandOf({ phases: [hangs()], onTerm: null })));
    },
    { ...silentFor(300.2), signal: "SIGKILL" },
  ],
  [
    "a read with a delay waits for as long as it says, without a cap",
    waits(5_000, { phase: hangs(every(100)) }),
    { status: "running", requested_wait_seconds: 5_000, effective_wait_seconds: 5_000, wait_clamped: false },
  ],
  ["a read without one does not wait", waits(undefined), { status: "running", effective_wait_seconds: 0 }],
  [
    "nothing is known of a budget: silence is waited for into the reserve",
    runs("make", hangs()),
    silentFor(300),
    { told: 400, reserve: 200 },
  ],
]);
