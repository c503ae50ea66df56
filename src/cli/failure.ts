/** How failures are told: mistakes of the caller's in one line each, our own with their stack. */
import { ReportError } from "../report/experiment.ts";
import { FileFaults } from "../scenario/fault.ts";
import { StoreError } from "../telemetry/store.ts";
import type { Outside } from "./command.ts";
import { EngineDiffers, EXIT, Incomplete, Interrupted, Tampered, UsageError } from "./exit.ts";
import { openScreen } from "./screen.ts";

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError || error instanceof FileFaults) return EXIT.usage;
  if (error instanceof StoreError || error instanceof ReportError) return EXIT.usage;
  if (error instanceof Tampered) return EXIT.tampered;
  if (error instanceof EngineDiffers || error instanceof Incomplete) return EXIT.incomplete;
  if (error instanceof Interrupted) return EXIT.interrupted;
  return EXIT.internal;
}

export function printFailure(error: unknown, { stderr, environment }: Outside): void {
  const { colours, line } = openScreen({ stream: stderr, environment });
  if (error instanceof UsageError || error instanceof FileFaults) {
    for (const fault of error.faults) line(`${colours.red("error")}  ${fault}`);
  } else if (error instanceof Tampered) {
    for (const file of error.files) line(`${colours.red("error")}  ${file}`);
  } else if (isOutside(error)) {
    line(`${colours.red("error")}  ${error.message}`);
  } else {
    line(
      `${colours.red("internal error")}  a promise of yieldpoint's own is broken; please report this with all that follows`,
    );
    line(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

/** Files, folders and interruptions: a sentence says it all. */
function isOutside(error: unknown): error is Error {
  return [StoreError, ReportError, EngineDiffers, Incomplete, Interrupted].some((kind) => error instanceof kind);
}
