/**
 * A trial as a trace that browsers' own viewers open (chrome://tracing, Perfetto): one process for each arm, in it threads for the
 * model, for its calls and for each command that it ran.
 *
 * Trace Event Format (Google, 2016): complete events have a start and a length, instants only a start, both in microseconds. On one
 * thread complete events must lie within or beside one another, so calls and requests that overlap have threads of their own.
 */

/** An event as the table `events` has it. */
export interface TracedEvent {
  readonly arm: string;
  readonly at_seconds: number;
  readonly event: string;
  readonly call_index: number | null;
  readonly request_index: number | null;
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
  readonly args?: Readonly<Record<string, string | number>>;
}

export interface Trace {
  readonly displayTimeUnit: "ms";
  readonly traceEvents: readonly TraceEvent[];
}

/** Where threads of the model, of its calls, and of its commands begin. */
const MODEL = 1;
const CALLS = 1_000;
const COMMANDS = 2_000;

const OPENS: ReadonlySet<string> = new Set(["exec_called", "process_called"]);
const CLOSES: ReadonlySet<string> = new Set(["control_returned", "call_refused"]);
const GRANTS: ReadonlySet<string> = new Set(["auto_await_granted", "wait_granted"]);

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

interface Span {
  readonly name: string;
  readonly from: number;
  to: number;
  readonly args?: Readonly<Record<string, string>>;
}

interface Call extends Span {
  readonly holds: readonly Span[];
}

function traced(events: readonly TracedEvent[], pid: number, arm: string): readonly TraceEvent[] {
  const calls = inLanes(callsIn(events));
  const commands = commandsIn(events);
  const requests = inLanes(atWork(events, calls.flat()));
  const numbered = (name: string, at: number) => (at === 0 ? name : `${name}, ${at + 1} at once`);
  const threads: readonly Thread[] = [
    ...(requests.length === 0 ? [[]] : requests).map((spans, at) => ({
      ...{ tid: MODEL + at, name: numbered("model", at), spans },
    })),
    ...calls.map((lane, at) => ({
      ...{ tid: CALLS + at, name: numbered("calls", at), spans: lane.flatMap((call) => [call, ...call.holds]) },
    })),
    ...[...commands].map(([id, span]) => ({ tid: COMMANDS + id, name: `process-${id}`, spans: [span] })),
  ];
  const named = (what: string, tid: number, args: TraceEvent["args"] & object): TraceEvent => ({
    name: what,
    ph: "M",
    pid,
    tid,
    args,
  });
  return [
    named("process_name", MODEL, { name: arm }),
    named("process_sort_index", MODEL, { sort_index: pid }),
    ...threads.flatMap(({ tid, name }) => [
      named("thread_name", tid, { name }),
      named("thread_sort_index", tid, { sort_index: tid }),
    ]),
    ...threads.flatMap(({ tid, spans }) =>
      spans.map(
        ({ name, from, to, args }): TraceEvent => ({
          ...{ name, ph: "X", pid, tid, ts: from, dur: to - from },
          ...(args && { args }),
        }),
      ),
    ),
    ...momentsIn(events).map(({ ts, name }): TraceEvent => ({ name, ph: "i", pid, tid: MODEL, ts, s: "t" })),
  ];
}

interface Thread {
  readonly tid: number;
  readonly name: string;
  readonly spans: readonly Span[];
}

/** Calls, each with the holds that were granted to it; one that never returned lasts until the end. */
function callsIn(events: readonly TracedEvent[]): readonly Call[] {
  const end = endOf(events);
  const calls: Call[] = [];
  const open = new Map<number, { readonly opened: TracedEvent; readonly grants: TracedEvent[] }>();
  const close = (call: number, to: number, closed: TracedEvent | null) => {
    const { opened, grants } = open.get(call)!;
    const came = closed === null ? "never returned" : told(closed);
    open.delete(call);
    const holds = grants.map((grant, at): Span => {
      const next = grants[at + 1];
      return { name: told(grant), from: micro(grant), to: next === undefined ? to : micro(next) };
    });
    // Some calls have one line only, when they return.
    const name = opened.journal === null && closed !== null ? came : told(opened);
    calls.push({ name, from: micro(opened), to, args: { control: came }, holds });
  };
  for (const event of events) {
    const { call_index: call } = event;
    if (call === null) continue;
    if (OPENS.has(event.event)) open.set(call, { opened: event, grants: [] });
    else if (GRANTS.has(event.event)) open.get(call)?.grants.push(event);
    else if (CLOSES.has(event.event) && open.has(call)) close(call, micro(event), event);
  }
  for (const call of [...open.keys()]) close(call, end, null);
  return calls.toSorted((a, b) => a.from - b.from || a.to - b.to);
}

/** Spans, by when they begin, in as many lanes as it takes for none to overlap. */
function inLanes<S extends Span>(spans: readonly S[]): readonly (readonly S[])[] {
  const lanes: S[][] = [];
  for (const span of spans) {
    const free = lanes.find((lane) => lane.at(-1)!.to <= span.from);
    if (free === undefined) lanes.push([span]);
    else free.push(span);
  }
  return lanes;
}

/** Commands, each from the call that started it to the last that was heard of it. */
function commandsIn(events: readonly TracedEvent[]): ReadonlyMap<number, Span> {
  const commands = new Map<number, Span>();
  for (const event of events) {
    const { process_id: process } = event;
    if (process === null) continue;
    const known = commands.get(process);
    if (known !== undefined) known.to = micro(event);
    else commands.set(process, { name: told(event), from: micro(event), to: micro(event) });
  }
  return commands;
}

/** The model at work: its requests where they are counted; elsewhere whenever no call is under way and its turn has not ended. */
function atWork(events: readonly TracedEvent[], calls: readonly Span[]): readonly Span[] {
  const asked = events.filter(({ event }) => event === "model_asked");
  if (asked.length > 0) {
    const answers = new Map(
      events.filter(({ event }) => event === "model_answered").map((event) => [event.request_index, micro(event)]),
    );
    return asked.map((event) => ({
      name: `request ${event.request_index}`,
      from: micro(event),
      to: answers.get(event.request_index) ?? endOf(events),
    }));
  }
  const rests: Span[] = [];
  let since: number | null = null;
  for (const event of events) {
    if (event.event === "turn_ended") since ??= micro(event);
    if (event.event !== "woken" || since === null) continue;
    rests.push({ name: "", from: since, to: micro(event) });
    since = null;
  }
  if (since !== null) rests.push({ name: "", from: since, to: endOf(events) });
  const busy = [...calls, ...rests].toSorted((a, b) => a.from - b.from);
  const spans: Span[] = [];
  let at = 0;
  for (const { from, to } of [...busy, { from: endOf(events), to: endOf(events) }]) {
    if (from > at) spans.push({ name: "at work", from: at, to: from });
    at = Math.max(at, to);
  }
  return spans;
}

/** What has a line in the journal and is no part of a call. */
function momentsIn(events: readonly TracedEvent[]): readonly { readonly ts: number; readonly name: string }[] {
  const inCalls = (event: string) => OPENS.has(event) || CLOSES.has(event) || GRANTS.has(event);
  return events
    .filter(({ event, journal }) => journal !== null && !inCalls(event))
    .map((event) => ({ ts: micro(event), name: told(event) }));
}

/** Its journal line, without the blanks that keep columns. */
const told = ({ journal, event }: TracedEvent) => (journal ?? event.replaceAll("_", " ")).replace(/\s+/g, " ").trim();

const micro = ({ at_seconds }: TracedEvent) => Math.round(at_seconds * 1e6);
const endOf = (events: readonly TracedEvent[]) => (events.length === 0 ? 0 : micro(events.at(-1)!));
