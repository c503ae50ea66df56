/** Scripted commands as a live world's processes: functions of its clock's time. For conformance, and for replays. */
import type { Command, ProcessId } from "../agent/effects.ts";
import { type Instant, never } from "../policy/time.ts";
import type { Clock, ProcessPort } from "./live.ts";
import { ScriptedProcess } from "./process.ts";
import type { ScriptedCommand } from "./script.ts";
import type { WatchedProcess } from "./watched.ts";

export function scriptedPort(clock: Clock): ProcessPort {
  return {
    start(id: ProcessId, command: Command, retain: number, startedAt: Instant, wake: () => void): WatchedProcess {
      const process = new ScriptedProcess(id, command as ScriptedCommand, startedAt, retain);
      let forget = endTimer(process);
      function endTimer({ endsAt }: ScriptedProcess): () => void {
        return endsAt === never ? () => {} : clock.at(endsAt, wake);
      }
      return {
        startedAt,
        endBy: (now) => process.endBy(now),
        written: (now) => process.written(now),
        lastOutputAt: (now) => process.lastOutputAt(now),
        quietAt: (quiet, now) => process.quietAt(quiet, now),
        read: (from, limit, now) => process.read(from, limit, now),
        terminate(at, grace, by) {
          process.terminate(at, grace, by);
          forget();
          forget = endTimer(process);
        },
      };
    },
  };
}
