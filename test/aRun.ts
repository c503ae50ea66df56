/** The ordinary trial, for tests: whatever a test does not name is as shipped. */
import type { Condition } from "../src/agent/condition.ts";
import type { Economy } from "../src/agent/context.ts";
import { type Agent, type Command, CutOff, type Mark, type Passed, type ProcessId } from "../src/agent/effects.ts";
import type { TrialEvent } from "../src/agent/events.ts";
import { journal } from "../src/agent/journal.ts";
import { PLAIN_HABITS, type Profile } from "../src/agent/model.ts";
import {
  type Deliveries,
  type JobStep,
  type Limits,
  type OutsideEvent,
  type Plan,
  type RunStep,
  UNLIMITED,
} from "../src/agent/plan.ts";
import {
  type ConditionResult,
  type ExecResult,
  type ListResult,
  type ProcessResult,
  type Returned,
  Shell,
  type WaitResult,
} from "../src/agent/shell.ts";
import { type TrialSpec, trial } from "../src/agent/trial.ts";
import { reserveBegins, runBudget, type ToldBudget } from "../src/policy/budget.ts";
import { settingsOf, type WrittenSettings } from "../src/policy/settings.ts";
import { after, beginning, type Instant, moment, seconds } from "../src/policy/time.ts";
import { keyed } from "../src/random.ts";
import { Host, type HostTerms } from "../src/world/host.ts";
import type { KernelOptions } from "../src/world/kernel.ts";
import { Provider, type ProviderTerms } from "../src/world/provider.ts";
import { type Exit, type Output, type Phase, type ScriptSpec, SILENT, scripted } from "../src/world/script.ts";
import { type EndedTrial, type Entrant, simulate } from "../src/world/simulated.ts";

export interface RunSpec {
  readonly settings?: WrittenSettings;
  /** Seconds; left out: not told. */
  readonly told?: number;
  /** Seconds. */
  readonly reserve?: number;
  /** Seconds. */
  readonly outerLimit?: number;
  readonly plan: Plan;
  readonly profile?: Partial<Profile>;
  readonly kernel?: KernelOptions;
  /** Seconds at which a client cancels. */
  readonly cancels?: readonly number[];
  readonly economy?: Economy;
  readonly limits?: Partial<Limits>;
  /** At which second what happens. */
  readonly outside?: readonly (readonly [at: number, what: OutsideEvent["what"]])[];
  readonly deliveries?: Deliveries;
  readonly redraw?: TrialSpec["redraw"];
  readonly provider?: Partial<ProviderTerms>;
  readonly host?: Partial<HostTerms>;
}

/** Serves everything at once, and takes what the model takes. */
export const plainProvider: ProviderTerms = {
  provider: "plain",
  latency: null,
  speed: 1,
  inFlight: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
  retryAfter: seconds(5),
  errors: null,
  retries: { attempts: 3, firstWait: seconds(1), longestWait: seconds(8), jitter: 0 },
};

export const patient: Profile = {
  profile: "patient",
  says: "asks for an hour, and never gives up on a process",
  step: seconds(5),
  cadence: null,
  waits: [{ from: 1, length: seconds(3_600) }],
  stopsAProcess: [],
  inTheReserve: "stop_and_go_on",
  ...PLAIN_HABITS,
};

function told(spec: Pick<RunSpec, "told" | "reserve">): ToldBudget | null {
  if (spec.told === undefined) return null;
  return {
    runBudget: seconds(spec.told),
    ...(spec.reserve === undefined ? {} : { finalizationReserve: seconds(spec.reserve) }),
  };
}

/** What enters a world, wherever its end is to be told. */
export type Candidate = Omit<Entrant, "ended"> & {
  /** Where it is alone: who serves its requests, and what its commands run on. */
  readonly provider?: ProviderTerms;
  readonly host?: HostTerms;
};

/** A provider of this one's terms, for one world. */
export const providerFor = ({ provider }: Candidate): Provider | null =>
  provider === undefined ? null : new Provider(provider, keyed, keyed.within(keyed.seeded(1), "provider"));

/** The trial that a spec describes. It may enter any number of worlds. */
export function candidate(spec: RunSpec): Candidate {
  const outerLimit = seconds(spec.outerLimit ?? 5_400);
  const { economy, limits, deliveries, redraw } = spec;
  const outside = spec.outside?.map(([at, what]): OutsideEvent => ({ at: moment(seconds(at)), what }));
  const whole: TrialSpec = {
    plan: spec.plan,
    profile: { ...patient, ...spec.profile },
    settings: settingsOf(spec.settings ?? {}),
    told: told(spec),
    outerLimit,
    luck: keyed,
    key: keyed.seeded(1),
    ...(economy === undefined ? null : { economy }),
    ...(limits === undefined ? null : { limits: { ...UNLIMITED, ...limits } }),
    ...(outside === undefined ? null : { outside }),
    ...(deliveries === undefined ? null : { deliveries }),
    ...(redraw === undefined ? null : { redraw }),
  };
  return {
    outerLimit,
    cancels: cancelsOf(spec),
    ...(outside === undefined ? null : { interrupts: outside.map(({ at }) => at) }),
    ...surroundings(spec),
    begin: (record) => trial(whole, record),
  };
}

const surroundings = ({ provider, host }: Pick<RunSpec, "provider" | "host">) => ({
  ...(provider === undefined ? null : { provider: { ...plainProvider, ...provider } }),
  ...(host === undefined ? null : { host: { speed: 1, cores: null, ...host } }),
});

/** One trial in a simulated world of its own. */
export function alone(candidate: Candidate, kernel: KernelOptions = {}): EndedTrial {
  let ended: EndedTrial | null = null;
  const entrant: Entrant = {
    ...candidate,
    ended: (trial) => {
      ended = trial;
    },
  };
  const provider = providerFor(candidate);
  const host = candidate.host === undefined ? null : new Host(candidate.host);
  simulate({ first: 0, cutGrace: seconds(10), kernel, lanes: [{ slots: 1, entrants: [entrant], provider, host }] });
  if (ended === null) throw new Error("the trial did not end");
  return ended;
}

/** The events of one trial in a world of its own. */
export const aRun = (spec: RunSpec): readonly TrialEvent[] => alone(candidate(spec), spec.kernel).events;

/** The events of one name. */
export const only = <Name extends TrialEvent["event"]>(events: readonly TrialEvent[], name: Name) =>
  events.filter((event): event is Extract<TrialEvent, { event: Name }> => event.event === name);

/** When each call was made, in seconds, and what it was: a command's line, or what was done with a process. */
export const callsOf = (events: readonly TrialEvent[]) =>
  events.flatMap((event): (readonly [number, string])[] => {
    if (event.event === "exec_called") return [[event.at / 1_000, event.command.line]];
    if (event.event === "process_called") return [[event.at / 1_000, event.action]];
    return event.event === "probed" ? [[event.at / 1_000, event.answers ? "answers" : "no answer"]] : [];
  });

export const journalOf = (spec: RunSpec): string[] => journal(aRun(spec));

/** Tool calls made by a test's own hand, one after the other, in place of a plan and a model. */
export class Hands {
  readonly shell: Shell;
  now: Instant = beginning;

  constructor(shell: Shell) {
    this.shell = shell;
  }

  *exec(
    command: Command,
    {
      background = false,
      timeout,
      canRead = true,
    }: { readonly background?: boolean; readonly timeout?: number; readonly canRead?: boolean } = {},
  ): Agent<Returned<ExecResult>> {
    const call = { command, background, timeout: timeout === undefined ? null : seconds(timeout), canRead };
    return this.#back(yield* this.shell.exec(call, this.now));
  }

  /** @param length in seconds; left out: none named */
  *wait(process: number, length?: number): Agent<Returned<WaitResult>> {
    const asked = length === undefined ? null : seconds(length);
    return this.#back(yield* this.shell.wait(process as ProcessId, asked, this.now));
  }

  *status(process: number): Agent<Returned<ProcessResult>> {
    return this.#back(yield* this.shell.status(process as ProcessId, this.now));
  }

  *stop(process: number): Agent<Returned<ProcessResult>> {
    return this.#back(yield* this.shell.stop(process as ProcessId, this.now));
  }

  *read(process: number, offset: number, limit: number | null = null): Agent<Returned<ProcessResult>> {
    return this.#back(yield* this.shell.readOutput(process as ProcessId, offset, limit, this.now));
  }

  /** @param terms in seconds; left out: not named */
  *waitFor(
    condition: Condition,
    { timeout, every }: { readonly timeout?: number; readonly every?: number } = {},
  ): Agent<Returned<ConditionResult>> {
    const asked = {
      timeout: timeout === undefined ? null : seconds(timeout),
      every: every === undefined ? null : seconds(every),
    };
    return this.#back(yield* this.shell.waitForCondition(condition, asked, this.now));
  }

  *probe(port: number): Agent<boolean> {
    return yield* this.shell.probe(port);
  }

  *list(): Agent<Returned<ListResult>> {
    return this.#back(yield* this.shell.list(this.now));
  }

  /** Seconds go by. */
  *pass(length: number): Agent<void> {
    this.now = ((yield { effect: "pass", until: after(this.now, seconds(length)) }) as Passed).at;
  }

  #back<Result>(returned: Returned<Result>): Returned<Result> {
    this.now = returned.at;
    return returned;
  }
}

/** What a call that was carried out came to. */
export function result<Result>(returned: Returned<Result>): Result {
  if ("refused" in returned) throw new Error(`refused: ${returned.refused}`);
  return returned.result;
}

/** Why a call was not carried out. */
export function refusal(returned: Returned<unknown>): string {
  if ("result" in returned) throw new Error("the call was carried out");
  return returned.refused;
}

export interface SessionSpec extends Omit<RunSpec, "plan" | "profile"> {
  /** Seconds. */
  readonly cadence?: number;
}

/** A trial whose calls a test makes itself: `work` in place of a plan. It has submitted once that is done. */
export function session(spec: SessionSpec, work: (hands: Hands) => Agent<void>): Candidate {
  const outerLimit = seconds(spec.outerLimit ?? 5_400);
  const settings = settingsOf(spec.settings ?? {});
  return {
    outerLimit,
    cancels: cancelsOf(spec),
    ...surroundings(spec),
    *begin(record) {
      const saying = told(spec);
      const budget = saying === null ? null : runBudget(saying, settings);
      const harness = runBudget({ runBudget: outerLimit }, settings);
      record({
        event: "trial_began",
        at: beginning,
        budget,
        outerLimit,
        reserveBegins: reserveBegins(budget ?? harness),
      });
      const cadence = spec.cadence === undefined ? null : seconds(spec.cadence);
      const hands = new Hands(new Shell({ settings, budget, cadence, record }));
      try {
        yield* work(hands);
        record({ event: "submitted", at: hands.now, partial: false });
      } catch (thrown) {
        if (!(thrown instanceof CutOff)) throw thrown;
        record({ event: "cut_off", at: thrown.at });
      }
    },
  };
}

/** What `work` brings back from a session in a world of its own; it must come to its end there. */
export function inSession<Value>(spec: SessionSpec, work: (hands: Hands) => Agent<Value>): Value {
  let value: { readonly is: Value } | null = null;
  const whole = session(spec, function* (hands) {
    value = { is: yield* work(hands) };
  });
  alone(whole, spec.kernel);
  if (value === null) throw new Error("the session was cut off");
  return (value as { readonly is: Value }).is;
}

const cancelsOf = ({ cancels = [] }: SessionSpec): Instant[] => cancels.map((at) => moment(seconds(at)));

const bytes = (text: string) => new TextEncoder().encode(text);

/** One line every so many seconds. */
export const every = (interval: number, line = "x\n"): Output => ({
  output: "every",
  every: seconds(interval),
  line: bytes(line),
});

/** Lines at stated seconds. */
export const lines = (...said: readonly (readonly [at: number, text: string, says?: Mark])[]): Output => ({
  output: "at",
  lines: said.map(([at, text, says = null]) => ({ at: seconds(at), line: bytes(text), says })),
});

export const lasts = (length: number, output: Output = SILENT, cpu = 0): Phase => ({
  phase: "run",
  length: seconds(length),
  output,
  ...(cpu === 0 ? null : { cpu }),
});
export const hangs = (output: Output = SILENT, cpu = 0): Phase => ({
  phase: "hang",
  output,
  ...(cpu === 0 ? null : { cpu }),
});
export const serves = (readyAfter: number, output: Output = SILENT): Phase => ({
  phase: "server",
  readyAfter: seconds(readyAfter),
  output,
});
export const prompts = (question: string, onEndOfInput: Exit | "hang"): Phase => ({
  phase: "prompt",
  question: bytes(question),
  onEndOfInput,
});
/** @param length in seconds; null: it never ends by itself */
export const leaves = (
  length: number | null,
  { group = "same", holdsOutput = true }: { readonly group?: "same" | "own"; readonly holdsOutput?: boolean } = {},
): Phase => ({ phase: "child", lasts: length === null ? null : seconds(length), group, holdsOutput });

export const command = (...phases: readonly Phase[]) => commandOf({ phases });
export const commandOf = (spec: Omit<ScriptSpec, "line"> & { readonly line?: string }) =>
  scripted({ line: "pytest -q", ...spec });

/** A plan step that runs a command; its options as the model would give them. */
export function runs(
  what: ReturnType<typeof scripted>,
  options: {
    readonly background?: boolean;
    readonly timeout?: number;
    readonly id?: string;
    readonly neededLater?: boolean;
    readonly persist?: boolean;
    readonly optional?: boolean;
  } = {},
): RunStep {
  return {
    step: "run",
    id: options.id ?? "it",
    command: what,
    background: options.background ?? false,
    timeout: options.timeout === undefined ? null : seconds(options.timeout),
    thenStep: false,
    ...(options.neededLater === undefined ? null : { neededLater: options.neededLater }),
    ...(options.optional === undefined ? null : { optional: options.optional }),
    ...(options.persist === undefined ? null : { persist: options.persist }),
  };
}

export const thinks = (length: number): Plan[number] => ({ step: "think", length: seconds(length) });
export const awaits = (of = "it"): Plan[number] => ({ step: "await", of });
export const together = (...of: readonly (RunStep | JobStep)[]): Plan[number] => ({ step: "together", of });
/** A child job; its timeout in seconds. */
export const job = (
  plan: Plan,
  { id = "job", timeout, startTokens = null }: { id?: string; timeout?: number; startTokens?: number | null } = {},
): JobStep => ({ step: "job", id, plan, timeout: timeout === undefined ? null : seconds(timeout), startTokens });
export const commits: Plan[number] = { step: "commit" };
export const submits: Plan[number] = { step: "submit" };
