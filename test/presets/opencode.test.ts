import { every, hangs, lasts, lines } from "../aRun.ts";
import { preset, runs } from "./preset.ts";

const ended = (elapsed: number, timeout = 120) => ({
  status: "timed_out",
  elapsed_seconds: elapsed,
  hard_timeout_seconds: timeout,
  auto_await_outcome: null,
  clamp_reasons: [],
});
const silent = { silence_ended_it: true };

preset("opencode", [
  ["a silent command is ended at its deadline of 120 s", runs("make", hangs()), { ...ended(120), ...silent }],
  [
    "one that printed shortly before it is ended after 60 s of silence",
    runs("make", hangs(lines([100, "a\n"]))),
    { ...ended(160), ...silent },
  ],
  [
    "output past the deadline begins the 60 s anew",
    runs("make", hangs(lines([100, "a\n"], [159, "b\n"]))),
    { ...ended(219), ...silent },
  ],
  [
    "one that goes on printing is ended 600 s past its deadline, silent or not",
    function* (hands) {
      const shown: object = yield* runs("make", hangs(every(59)))(hands);
      return { shown, silent: "silence_ended_it" in shown };
    },
    { shown: ended(720), silent: false },
  ],
  [
    "one that prints may end by itself past its deadline",
    runs("make", lasts(500, every(30))),
    { status: "completed", elapsed_seconds: 500, hard_timeout_seconds: 120 },
  ],
  [
    "a timeout that is asked for is granted, however long",
    runs("make", hangs(), 7_200),
    { ...ended(7_200, 7_200), ...silent },
  ],
  [
    "of the output the end is shown",
    function* (hands) {
      const said = lines([1, "first\n"], [2, "x".repeat(40_000)], [3, "last\n"]);
      const { output } = yield* runs("make", hangs(said))(hands);
      return [output.includes("first"), output.endsWith("last\n"), output.length < 30_200];
    },
    [false, true, true],
  ],
]);
