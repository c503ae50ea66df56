import { command, commandOf, every, hangs, lasts, lines, refusal, result } from "../aRun.ts";
import { goesOn, handedBack, preset, runs, waits, wentOn } from "./preset.ts";

preset("openhands", [
  ["control is back after 10 s without output", runs("make", hangs()), handedBack(10, "disabled")],
  ["10 s after the last of it", runs("make", hangs(lines([7, "x\n"]))), handedBack(17, "disabled")],
  ["and after 120 s in any case", runs("make", hangs(every(5))), handedBack(120, "disabled")],
  [
    "a timeout that is asked for has silence count for nothing, and gives control back without killing",
    runs("make", hangs(), 300),
    handedBack(300, "cap_reached"),
  ],
  ["nothing is killed: it goes on under its id, with all its output", goesOn, wentOn],
  [
    "meanwhile it keeps the shell, and a new command is refused",
    function* (hands) {
      result(yield* hands.exec(command(hangs())));
      yield* hands.pass(60);
      return refusal(yield* hands.exec(commandOf({ line: "ls", phases: [lasts(1)] })));
    },
    "process-1, 70 s after its start, keeps the shell: wait until it has ended, or stop it",
  ],
  [
    "until it is stopped",
    function* (hands) {
      result(yield* hands.exec(command(hangs())));
      const stopped = result(yield* hands.stop(1)).status;
      return [stopped, result(yield* hands.exec(commandOf({ line: "ls", phases: [lasts(1)] })))];
    },
    ["terminated", { status: "completed", process_id: "process-2" }],
  ],
  ["reading more takes 10 s", waits(undefined), { status: "running", effective_wait_seconds: 10 }],
]);
