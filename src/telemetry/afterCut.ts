/** What an agent did after the outer harness had cut it off, as far as the harness knew. */
import type { TrialEvent } from "../agent/events.ts";

export interface DoneAfterCut {
  /** Milliseconds with a call under way; of calls side by side each moment counts once. */
  readonly tools: number;
  readonly requests: number;
  /** In millionths of a dollar. What was under way at the cut belongs to the trial. */
  readonly cost: number;
}

export const NOTHING: DoneAfterCut = { tools: 0, requests: 0, cost: 0 };

/**
 * @param trial the events of the trial, up to the cut
 * @param more those that followed, up to the agent's own end
 */
export function doneAfterCut(trial: readonly TrialEvent[], more: readonly TrialEvent[]): DoneAfterCut {
  const open = new Set<number>();
  for (const event of trial) callsAfter(event, open);
  let since: number = trial.at(-1)?.at ?? 0;
  let tools = 0;
  let requests = 0;
  let cost = 0;
  for (const event of more) {
    if (open.size > 0) tools += event.at - since;
    since = event.at;
    callsAfter(event, open);
    if (event.event !== "model_asked") continue;
    requests += 1;
    cost += event.cost;
  }
  return { tools, requests, cost };
}

function callsAfter(event: TrialEvent, open: Set<number>): void {
  if (event.event === "exec_called" || event.event === "process_called") open.add(event.call);
  else if (event.event === "control_returned" || event.event === "call_refused") open.delete(event.call);
}
