import { command, commandOf, every, hangs, lasts, lines, refusal, result } from "../aRun.ts";
import { preset, runs } from "./preset.ts";

const ended = {
  status: "timed_out",
  elapsed_seconds: 30,
  hard_timeout_seconds: 30,
  auto_await_outcome: null,
};
const another = () => commandOf({ line: "ls", phases: [lasts(1)] });

preset("swe-agent", [
  ["a silent command is ended at 30 s", runs("pytest", hangs()), ended],
  ["a chatty one too", runs("pytest", hangs(every(1))), ended],
  ["one of 30 s comes back with its result", runs("pytest", lasts(30)), { status: "completed", elapsed_seconds: 30 }],
  [
    "what it had printed is kept",
    runs("pytest", hangs(lines([1, "collected\n"], [29, "almost\n"]))),
    { ...ended, output: "collected\nalmost\n" },
  ],
  [
    "three in a row end the run",
    function* (hands) {
      for (let nth = 0; nth < 3; nth += 1) result(yield* hands.exec(command(hangs())));
      return refusal(yield* hands.exec(another()));
    },
    "this run is over: too many commands in a row were ended by a timeout",
  ],
  [
    "two do not, and a success begins the count anew",
    function* (hands) {
      const hang = () => hands.exec(command(hangs()));
      for (const next of [hang, hang, () => hands.exec(another()), hang, hang]) result(yield* next());
      return result(yield* hands.exec(another()));
    },
    { status: "completed" },
  ],
  [
    "1,800 s of commands end it, too: looked at between them, however long it thinks",
    function* (hands) {
      for (let nth = 0; nth < 90; nth += 1) {
        result(yield* hands.exec(command(lasts(20))));
        yield* hands.pass(60);
      }
      return refusal(yield* hands.exec(another()));
    },
    "this run is over: its commands have taken all the time that they may take",
  ],
  [
    "so that the last one may go beyond it",
    function* (hands) {
      for (let nth = 0; nth < 61; nth += 1) result(yield* hands.exec(command(lasts(29))));
      result(yield* hands.exec(command(lasts(30))));
      const last = result(yield* hands.exec(command(lasts(20))));
      return [last.status, refusal(yield* hands.exec(another()))];
    },
    ["completed", "this run is over: its commands have taken all the time that they may take"],
  ],
]);
