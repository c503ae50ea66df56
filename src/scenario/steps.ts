/**
 * Plans from paper: ids for steps that were given none, and names that must lead somewhere.
 *
 * Ids are unique over a whole plan, child jobs included, for draws are keyed by them. What a step refers to is of its own
 * plan: a job does not see its parent's processes.
 */
import { seconds } from "../policy/time.ts";
import { type Context, distributionOf } from "./distributions.ts";
import { shown, suggestion } from "./fault.ts";
import { type Place, part } from "./reading.ts";
import type { ScenarioFile } from "./schema.ts";
import type { UndrawnJob, UndrawnRun, UndrawnStep } from "./situation.ts";

type OuterStep = ScenarioFile["plan"][number];
type RunFile = NonNullable<OuterStep["run"]>;
type UntilFile = NonNullable<OuterStep["until"]>;
type RepairFile = NonNullable<OuterStep["repair"]>;

/** A step, however deep in jobs it stands. */
type StepFile = Omit<OuterStep, "together" | "job"> &
  CallFile & { readonly together?: readonly CallFile[] | undefined };

interface CallFile {
  readonly run?: RunFile | undefined;
  readonly job?: JobFile | undefined;
}

interface JobFile {
  readonly id?: string | undefined;
  readonly plan: readonly StepFile[];
  readonly timeout_seconds?: number | undefined;
  readonly start_tokens?: number | undefined;
}

/** The plan of a scenario, and the names of the commands that it runs. */
export function planOf(
  context: Context,
  place: Place,
  file: ScenarioFile,
): { readonly plan: readonly UndrawnStep[]; readonly runs: ReadonlySet<string> } {
  const reader = new PlanReader(context, file);
  return { plan: reader.plan(part(place, "plan"), file.plan, ""), runs: reader.runs };
}

/** What the steps of one plan may refer to. */
interface Scope {
  /** Of the ids of its thoughts. */
  readonly prefix: string;
  /** The commands of the runs so far, by their ids. */
  readonly earlier: Map<string, string>;
  readonly awaited: ReadonlySet<string>;
  thoughts: number;
}

class PlanReader {
  readonly runs = new Set<string>();
  readonly #context: Context;
  readonly #commands: ScenarioFile["commands"];
  /** Ids that are given anywhere, and those that have been made up. */
  readonly #taken: Set<string>;
  readonly #met = new Set<string>();

  constructor(context: Context, { commands, plan }: ScenarioFile) {
    this.#context = context;
    this.#commands = commands;
    this.#taken = new Set(plan.flatMap(givenIds));
  }

  plan(place: Place, steps: readonly StepFile[], prefix: string): readonly UndrawnStep[] {
    const awaited = new Set(steps.flatMap((step) => step.await ?? []));
    const scope: Scope = { prefix, earlier: new Map(), awaited, thoughts: 0 };
    return steps.map((step, index) => this.#step(part(place, index), step, scope, index === steps.length - 1));
  }

  #step(at: Place, step: StepFile, scope: Scope, isLast: boolean): UndrawnStep {
    if (step.think !== undefined) return this.#think(part(at, "think"), step.think, scope);
    if (step.run !== undefined) return this.#run(part(at, "run"), step.run, scope);
    if (step.status !== undefined) {
      this.#earlier(part(at, "status"), step.status, scope);
      return { step: "status", of: step.status };
    }
    if (step.await !== undefined) {
      this.#earlier(part(at, "await"), step.await, scope);
      return { step: "await", of: step.await };
    }
    if (step.probe !== undefined) {
      this.#server(part(at, "probe"), step.probe, scope);
      return { step: "probe", of: step.probe };
    }
    if (step.until !== undefined) return this.#until(part(at, "until"), step.until, scope);
    if (step.repair !== undefined) return this.#repair(part(at, "repair"), step.repair);
    if (step.together !== undefined) {
      const of = step.together.map((call, index) => {
        const here = part(at, "together", index);
        if (call.run !== undefined) return this.#run(part(here, "run"), call.run, scope);
        return this.#job(part(here, "job"), call.job!);
      });
      return { step: "together", of };
    }
    if (step.job !== undefined) return this.#job(part(at, "job"), step.job);
    if (step.commit !== undefined) return { step: "commit" };
    if (!isLast)
      this.#context.reading.fault(part(at, "submit"), "comes before other steps: expected it last, and once");
    return { step: "submit" };
  }

  #think(at: Place, think: NonNullable<OuterStep["think"]>, scope: Scope): UndrawnStep {
    if (think.steps !== undefined) return { step: "think_steps", steps: think.steps };
    scope.thoughts += 1;
    const lasts = distributionOf(this.#context, part(at, "seconds"), think.seconds!);
    return { step: "think", id: `${scope.prefix}think-${scope.thoughts}`, seconds: lasts };
  }

  #run(at: Place, file: RunFile, scope: Scope): UndrawnRun {
    const run = typeof file === "string" ? { command: file } : file;
    this.#command(typeof file === "string" ? at : part(at, "command"), run.command);
    const id = this.#id(at, run.id, run.command);
    scope.earlier.set(id, run.command);
    return {
      step: "run",
      id,
      command: run.command,
      background: run.background ?? false,
      timeout: run.timeout_seconds === undefined ? null : seconds(run.timeout_seconds),
      neededLater: scope.awaited.has(id),
      ...(run.optional === true ? { optional: true } : {}),
      ...(run.persist === true ? { persist: true } : {}),
    };
  }

  #until(at: Place, { answers, succeeds, think_seconds, at_most, id }: UntilFile, scope: Scope): UndrawnStep {
    if (answers !== undefined) {
      this.#server(part(at, "answers"), answers, scope);
      return { step: "until_answers", of: answers, atMost: at_most };
    }
    this.#command(part(at, "succeeds"), succeeds!);
    return {
      step: "until_succeeds",
      ...this.#attempts(at, id, succeeds!),
      mended: null,
      mendsWith: 0,
      thought: distributionOf(this.#context, part(at, "think_seconds"), think_seconds!),
      atMost: at_most,
    };
  }

  #repair(at: Place, { run, then: mended, mends_with, think_seconds, at_most, id }: RepairFile): UndrawnStep {
    this.#command(part(at, "run"), run);
    if (mended !== undefined) this.#command(part(at, "then"), mended);
    return {
      step: "until_succeeds",
      ...this.#attempts(at, id, run),
      mended: mended ?? null,
      mendsWith: mends_with ?? 1,
      thought: distributionOf(this.#context, part(at, "think_seconds"), think_seconds),
      atMost: at_most,
    };
  }

  #attempts(at: Place, given: string | undefined, command: string): { readonly id: string; readonly run: UndrawnRun } {
    const id = this.#id(at, given, command);
    return { id, run: { step: "run", id, command, background: false, timeout: null, neededLater: false } };
  }

  #job(at: Place, job: JobFile): UndrawnJob {
    const id = this.#id(at, job.id, "job");
    return {
      step: "job",
      id,
      plan: this.plan(part(at, "plan"), job.plan, `${id}/`),
      timeout: job.timeout_seconds === undefined ? null : seconds(job.timeout_seconds),
      startTokens: job.start_tokens ?? null,
    };
  }

  // Names

  #command(at: Place, name: string): void {
    this.runs.add(name);
    if (Object.hasOwn(this.#commands, name)) return;
    const names = Object.keys(this.#commands);
    this.#context.reading.fault(
      at,
      `is ${shown(name)}: expected one of the scenario's commands${suggestion(name, names)}`,
    );
  }

  /** The id of a step: its own, or one made up from the name of what it runs. */
  #id(at: Place, given: string | undefined, name: string): string {
    const id = given ?? free(name, this.#taken);
    if (given !== undefined && this.#met.has(given))
      this.#context.reading.fault(part(at, "id"), `is ${shown(given)}: expected an id that no other step has`);
    if (given !== undefined) this.#met.add(given);
    this.#taken.add(id);
    return id;
  }

  /** The command of an earlier run of the same plan; undefined, and a fault, if there is no such run. */
  #earlier(at: Place, id: string, { earlier, prefix }: Scope): string | undefined {
    const command = earlier.get(id);
    if (command === undefined) {
      const where = prefix === "" ? "" : " of the job's own plan";
      this.#context.reading.fault(
        at,
        `is ${shown(id)}: expected the id of an earlier run${where}${suggestion(id, [...earlier.keys()])}`,
      );
    }
    return command;
  }

  /** Whether what an earlier run has started can be asked for an answer. */
  #server(at: Place, id: string, scope: Scope): void {
    const name = this.#earlier(at, id, scope);
    if (name === undefined || !Object.hasOwn(this.#commands, name)) return;
    if (this.#commands[name]!.port === undefined)
      this.#context.reading.fault(
        at,
        `is ${shown(id)}: expected a run whose command serves; commands.${name} has no port`,
      );
  }
}

/** The ids that are given in a step and all that it is made of. */
function givenIds(step: StepFile): readonly string[] {
  const { run, until, repair, together, job } = step;
  return [
    ...(typeof run === "object" && run.id !== undefined ? [run.id] : []),
    ...(until?.id === undefined ? [] : [until.id]),
    ...(repair?.id === undefined ? [] : [repair.id]),
    ...(together ?? []).flatMap(givenIds),
    ...(job?.id === undefined ? [] : [job.id]),
    ...(job?.plan ?? []).flatMap(givenIds),
  ];
}

/** An id for a step that was given none: its command's name, numbered from the second on. */
function free(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let at = 2; ; at++) if (!taken.has(`${name}-${at}`)) return `${name}-${at}`;
}
