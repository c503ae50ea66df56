/**
 * A trial as a trace that browsers' own viewers open (chrome://tracing, Perfetto): one process for each arm, in it a thread for the
 * calls of the model and one for each command.
 *
 * Trace Event Format (Google, 2016): complete events have a start and a length, instants only a start, both in microseconds.
 */

/** An event as the table `events` has it. */
export interface TracedEvent {
  readonly arm: string;
  readonly at_seconds: number;
  readonly event: string;
  readonly call_index: number | null;
  readonly process_id: number | null;
  readonly journal: string | null;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: "X" | "i" | "M";
  readonly pid: number;
  readonly tid: number;
  readonly ts?: number;
  readonly dur?: number;
  readonly s?: "t";
  readonly args?: Readonly<Record<string, string>>;
}

export interface Trace {
  readonly displayTimeUnit: "ms";
  readonly traceEvents: readonly TraceEvent[];
}

const CALLS = 0;
const OPENS: ReadonlySet<string> = new Set(["exec_called", "process_called"]);
const CLOSES: ReadonlySet<string> = new Set(["control_returned", "call_refused"]);

/** @param events of one trial under each arm, in the order in which they happened; arms in the order to be shown */
export function traceOf(events: readonly TracedEvent[], arms: readonly string[]): Trace {
  return {
    displayTimeUnit: "ms",
    traceEvents: arms.flatMap((arm, at) =>
      traced(
        events.filter((event) => event.arm === arm),
        at + 1,
        arm,
      ),
    ),
  };
}

function traced(events: readonly TracedEvent[], pid: number, arm: string): readonly TraceEvent[] {
  const end = micro(events.at(-1)?.at_seconds ?? 0);
  const calls: TraceEvent[] = [];
  const open = new Map<number, TracedEvent>();
  const seen = new Map<number, { readonly from: number; readonly name: string; to: number }>();
  for (const event of events) {
    const { at_seconds, call_index: call, process_id: process, journal } = event;
    const ts = micro(at_seconds);
    if (process !== null) {
      const known = seen.get(process);
      if (known === undefined) seen.set(process, { from: ts, to: ts, name: journal ?? event.event });
      else known.to = ts;
    }
    if (call !== null && OPENS.has(event.event)) open.set(call, event);
    else if (call !== null && CLOSES.has(event.event)) {
      const opened = open.get(call);
      open.delete(call);
      if (opened !== undefined) calls.push(span(opened, ts, pid, journal));
    } else if (journal !== null) calls.push({ name: journal, ph: "i", pid, tid: CALLS, ts, s: "t" });
  }
  for (const opened of open.values()) calls.push(span(opened, end, pid, "never returned"));
  const processes = [...seen].map(
    ([id, { from, to, name }]): TraceEvent => ({ name, ph: "X", pid, tid: id, ts: from, dur: Math.max(to - from, 1) }),
  );
  const named = (what: string, tid: number, name: string): TraceEvent => ({
    name: what,
    ph: "M",
    pid,
    tid,
    args: { name },
  });
  return [
    named("process_name", CALLS, arm),
    named("thread_name", CALLS, "calls"),
    ...[...seen.keys()].map((id) => named("thread_name", id, `process-${id}`)),
    ...calls,
    ...processes,
  ];
}

function span({ at_seconds, journal, event }: TracedEvent, to: number, pid: number, came: string | null): TraceEvent {
  const ts = micro(at_seconds);
  return {
    name: journal ?? event,
    ph: "X",
    pid,
    tid: CALLS,
    ts,
    dur: to - ts,
    ...(came === null ? {} : { args: { control: came } }),
  };
}

const micro = (seconds: number) => Math.round(seconds * 1e6);
