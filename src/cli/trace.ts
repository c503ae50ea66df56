/** The trace that a replay writes: the same that the report's page gives for the trials it goes into. */
import type { TrialEvent } from "../agent/events.ts";
import { journalLine } from "../agent/journal.ts";
import { traceOf } from "../report/trace.ts";

export function traceOfTrial(events: readonly TrialEvent[], arm: string): string {
  const rows = events.map((event) => ({
    arm,
    at_seconds: event.at / 1_000,
    event: event.event,
    call_index: "call" in event ? event.call : null,
    request_index: "request" in event ? event.request : null,
    process_id: "process" in event ? event.process : null,
    journal: journalLine(event),
  }));
  return `${JSON.stringify(traceOf(rows, [arm]))}\n`;
}
