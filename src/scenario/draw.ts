/**
 * What a situation turns out to be, under one seed in one replicate: scripts for its commands, lengths for its thoughts.
 *
 * Every draw is keyed by what it is for: seed, replicate, scenario, step, attempt, purpose. So an arm changes no draw, and
 * neither does the order in which tasks are asked for. A population's tasks are drawn by the hundred thousand: what does
 * not depend on luck is made once for the population, and what does is put together without ceremony.
 */
import type { Command, Kind } from "../agent/effects.ts";
import type { Deliveries, Grading, JobStep, Limits, OutsideEvent, Plan, RunStep, Step } from "../agent/plan.ts";
import { chosen, type Distribution, type Sampler, sampler } from "../distribution.ts";
import { type Duration, seconds } from "../policy/time.ts";
import type { Draws, Key } from "../random.ts";
import { type Exit, kindOf, type Phase, PLAIN, type ScriptedCommand, scripted, UNKNOWN } from "../world/script.ts";
import type {
  ModelChanges,
  Population,
  Scenario,
  UndrawnCommand,
  UndrawnJob,
  UndrawnPhase,
  UndrawnRun,
  UndrawnStep,
} from "./situation.ts";

/** One task, certain in every length. All arms of a replicate meet the same. */
export interface Task {
  /** The scenario's name; of a population, `<population>/NNN`. */
  readonly scenario: string;
  /** The gravest kind among its commands. */
  readonly kind: Kind;
  readonly outerLimit: Duration;
  readonly plan: Plan;
  readonly model: ModelChanges;
  readonly grading: Grading;
  readonly limits: Limits;
  readonly outside: readonly OutsideEvent[];
  /** Null: messages fail only where the provider does not answer. */
  readonly deliveries: Deliveries | null;
  /** A command of this task drawn anew, for an attempt after the first; null: it does what it did before. */
  readonly redraw: ((id: string, attempt: number) => Command) | null;
  /** Of this scenario in this replicate: what habits are keyed by. */
  readonly key: Key;
}

/** What everything drawn in one replicate is keyed by. */
export function replicateKey(luck: Draws, seed: number, replicate: number): Key {
  return luck.within(luck.seeded(seed), replicate);
}

/** A step of a plan is done for the first time; a rerun is attempt 1, and shifts nothing. */
const FIRST_ATTEMPT = 0;

/** A scenario as it turns out in the replicate of this key. */
export function drawScenario(scenario: Scenario, luck: Draws, replicate: Key): Task {
  const drawing = new Drawing(scenario, luck, luck.within(replicate, scenario.scenario));
  const plan = drawing.plan(scenario.plan);
  const { outerLimit, model, grading, limits, outside, deliveries } = scenario;
  const redraw = (id: string, attempt: number) => drawing.again(id, attempt);
  return {
    scenario: scenario.scenario,
    kind: drawing.kind,
    outerLimit,
    plan,
    model,
    grading,
    limits,
    outside,
    deliveries,
    redraw,
    key: drawing.key,
  };
}

/** One scenario on its way from chance to certainty. */
class Drawing {
  kind: Kind = "quick";
  readonly key: Key;
  readonly #commands: Scenario["commands"];
  readonly #luck: Draws;
  /** What each run has turned out to run, by its id. */
  readonly #runs = new Map<string, UndrawnCommand>();

  constructor({ commands }: Scenario, luck: Draws, key: Key) {
    this.#commands = commands;
    this.#luck = luck;
    this.key = key;
  }

  plan(steps: readonly UndrawnStep[]): Plan {
    return steps.map((step) => this.#step(step));
  }

  /** The command of a run, for an attempt after the first. */
  again(id: string, attempt: number): ScriptedCommand {
    return this.#command(id, attempt, this.#runs.get(id)!);
  }

  #step(step: UndrawnStep): Step {
    switch (step.step) {
      case "think":
        return { step: "think", length: this.#length(step.seconds, step.id, "thinking") };
      case "run":
        return this.#run(step);
      case "status":
        return { step: "status", of: step.of, thenStep: true };
      case "until_succeeds":
        return this.#untilSucceeds(step);
      case "together": {
        // Their results come back together, and the model takes one step for all of them.
        const last = step.of.findLast((call) => call.step === "run" && call.background);
        return {
          step: "together",
          of: step.of.map((call) => (call.step === "job" ? this.#job(call) : this.#run(call, call === last))),
        };
      }
      case "job":
        return this.#job(step);
      default:
        return step;
    }
  }

  /** Looking at a process without waiting for it takes the model its usual step, whatever there is to see. */
  #run(
    { id, command, background, timeout, neededLater, optional, persist }: UndrawnRun,
    thenStep = background,
  ): RunStep {
    return {
      step: "run",
      id,
      command: this.#first(id, this.#commands[command]!),
      background,
      timeout,
      thenStep,
      ...(neededLater ? { neededLater } : {}),
      ...(optional ? { optional } : {}),
      ...(persist ? { persist } : {}),
    };
  }

  #job({ id, plan, timeout, startTokens }: UndrawnJob): JobStep {
    return { step: "job", id, plan: this.plan(plan), timeout, startTokens };
  }

  #untilSucceeds(loop: Extract<UndrawnStep, { step: "until_succeeds" }>): Step {
    const { id, run, mended, mendsWith, thought, atMost } = loop;
    const attempts: RunStep[] = [];
    const thoughts: Duration[] = [];
    let command = run.command;
    for (let at = 0; at < atMost; at += 1) {
      const own = attemptId(id, at);
      if (at > 0) {
        thoughts.push(this.#length(thought, own, "thinking"));
        if (mended !== null && this.#uniform(own, "mending") < mendsWith) command = mended;
      }
      attempts.push(this.#run({ ...run, id: own, command }));
    }
    return { step: "until_succeeds", attempts, thoughts };
  }

  #first(id: string, command: UndrawnCommand): ScriptedCommand {
    this.#runs.set(id, command);
    const drawn = this.#command(id, FIRST_ATTEMPT, command);
    this.kind = graver(this.kind, drawn.kind!);
    return drawn;
  }

  #command(id: string, attempt: number, command: UndrawnCommand): ScriptedCommand {
    const luck = this.#luck;
    const own = luck.within(luck.within(this.key, id), attempt);
    return drawCommand(command, luck, own, luck.within(own, "phases"), 0);
  }

  #length(distribution: Distribution, id: string, drawnFor: string): Duration {
    return seconds(sampler(distribution)(this.#uniform(id, drawnFor)));
  }

  #uniform(id: string, drawnFor: string): number {
    const luck = this.#luck;
    return luck.uniform(luck.within(luck.within(luck.within(this.key, id), FIRST_ATTEMPT), drawnFor));
  }
}

/** Each attempt of a loop is a run with draws of its own, and may itself be run again. No id in a file has a # in it. */
function attemptId(id: string, at: number): string {
  return at === 0 ? id : `${id}#${at + 1}`;
}

/**
 * A command as it turns out.
 *
 * @param own the key of this attempt at it
 * @param phases the key that its phases are drawn from, the first by the uniform of this `ordinal`
 */
function drawCommand(command: UndrawnCommand, luck: Draws, own: Key, phases: Key, ordinal: number): ScriptedCommand {
  const { line, onTerm, passes, spoils, exit, port, lock, signalLoss, usual } = command;
  return scripted({
    line,
    phases: command.phases.map((phase, at) => drawPhase(phase, luck, phases, ordinal + at)),
    onTerm,
    passes,
    spoils,
    port,
    lock,
    signalLost: signalLoss > 0 && luck.uniform(luck.within(own, "signal_loss")) < signalLoss,
    usual,
    ...(exit === null ? {} : { exit }),
  });
}

function drawPhase(phase: UndrawnPhase, luck: Draws, key: Key, ordinal: number): Phase {
  const drawn = (distribution: Distribution) => seconds(sampler(distribution)(luck.uniform(key, ordinal)));
  switch (phase.phase) {
    case "run":
      return { phase: "run", length: drawn(phase.seconds), output: phase.output, cpu: phase.cpu };
    case "server":
      return { phase: "server", readyAfter: drawn(phase.readyAfter), output: phase.output };
    case "child": {
      const { group, holdsOutput } = phase;
      return { phase: "child", lasts: phase.seconds === null ? null : drawn(phase.seconds), group, holdsOutput };
    }
    default:
      return phase;
  }
}

const GRAVENESS: Readonly<Record<Kind, number>> = { quick: 0, long_finite: 1, server: 2, hanging: 3 };

function graver(one: Kind, other: Kind): Kind {
  return GRAVENESS[one] < GRAVENESS[other] ? other : one;
}

/** The task with this index, from 0, as it turns out in the replicate of this key. */
export type TaskDrawer = (index: number, replicate: Key) => Task;

const drawers = new WeakMap<Population, { readonly luck: Draws; readonly draw: TaskDrawer }>();

/** One task of a population; `index` counts from 0, its name from 1. */
export function drawTask(population: Population, index: number, luck: Draws, replicate: Key): Task {
  const known = drawers.get(population);
  if (known?.luck === luck) return known.draw(index, replicate);
  const draw = compilePopulation(population, luck);
  drawers.set(population, { luck, draw });
  return draw(index, replicate);
}

/** `deepswe-like/007`: counted from 1, at three places at least. */
export function taskName(population: string, index: number): string {
  return `${population}/${String(index + 1).padStart(3, "0")}`;
}

/** Which uniform of a command's key is for what. */
const WHICH = 0;
const FIRST_PHASE = 1;

const COMMIT: Step = { step: "commit" };
const SUBMIT: Step = { step: "submit" };
const NO_CHANGES: ModelChanges = {};
const NOTHING: readonly OutsideEvent[] = [];
const CLEAN: Exit = { code: 0, signal: null };
const ASIDE = { background: true, timeout: null, thenStep: true } as const;

/** How one part of the mix becomes a command. */
interface Ingredient {
  readonly command: UndrawnCommand;
  /** Where it is one silent stretch and a clean end: how long. Null where it takes the long way. */
  readonly silent: Sampler | null;
  readonly endless: boolean;
}

/** A population made ready to be drawn from, many times over. */
export function compilePopulation(population: Population, luck: Draws): TaskDrawer {
  const { tasks, outerLimit, grading, limits, mix, backgroundJobProbability } = population;
  const commandsPerTask = sampler(population.commandsPerTask);
  const thinkingSeconds = sampler(population.thinkingSeconds);
  const ingredients = mix.map(({ command }) => ingredientOf(command));
  const names = Array.from({ length: tasks }, (_, index) => taskName(population.population, index));
  const ids: string[] = [];

  return (index, replicate) => {
    const scenario = names[index]!;
    const key = luck.within(replicate, scenario);
    const task = luck.within(key, "task");
    const n = Math.round(commandsPerTask(luck.uniform(task, 0)));
    const thinking = seconds(thinkingSeconds(luck.uniform(task, 1)));
    const plan: Step[] = [];

    if (backgroundJobProbability > 0 && luck.uniform(task, 2) < backgroundJobProbability) {
      const command = draw(luck.within(luck.within(key, BACKGROUND), FIRST_ATTEMPT));
      plan.push({ step: "run", id: BACKGROUND, command, ...ASIDE });
      plan.push({ step: "status", of: BACKGROUND, thenStep: true });
    }

    const commands = luck.within(key, "commands");
    let kind: Kind = "quick";
    let thought = 0;
    for (let at = 0; at < n; at++) {
      // Whole milliseconds that add up to the total: each gap ends where its share of the whole ends.
      const until = Math.floor((thinking * (at + 1)) / (n + 1));
      plan.push({ step: "think", length: (until - thought) as Duration });
      thought = until;
      ids[at] ??= `${COMMAND}${at + 1}`;
      const id = ids[at]!;
      const command = draw(luck.within(luck.within(commands, at), FIRST_ATTEMPT));
      if (command.kind !== "quick") kind = graver(kind, command.kind!);
      plan.push({ step: "run", id, command, background: false, timeout: null, thenStep: false });
    }
    plan.push({ step: "think", length: (thinking - thought) as Duration }, COMMIT, SUBMIT);
    const redraw = (id: string, attempt: number) => {
      const run = id === BACKGROUND ? luck.within(key, BACKGROUND) : luck.within(commands, numberOf(id) - 1);
      return again(run, attempt);
    };
    return {
      scenario,
      kind,
      outerLimit,
      plan,
      model: NO_CHANGES,
      grading,
      limits,
      outside: NOTHING,
      deliveries: null,
      redraw,
      key,
    };
  };

  /** A command that is run for the first time: one of the mix. */
  function draw(key: Key): ScriptedCommand {
    return made(ingredients[which(key)]!, key);
  }

  /** The same one of the mix again, with other lengths. */
  function again(run: Key, attempt: number): ScriptedCommand {
    return made(ingredients[which(luck.within(run, FIRST_ATTEMPT))]!, luck.within(run, attempt));
  }

  function which(key: Key): number {
    return mix.length === 1 ? 0 : chosen(mix, luck.uniform(key, WHICH));
  }

  function made({ command, silent, endless }: Ingredient, key: Key): ScriptedCommand {
    if (!endless && silent === null) return drawCommand(command, luck, key, key, FIRST_PHASE);
    const length = silent === null ? null : seconds(silent(luck.uniform(key, FIRST_PHASE)));
    return {
      line: command.line,
      kind: kindOf(length),
      passes: PLAIN.passes,
      spoils: PLAIN.spoils,
      port: null,
      usual: command.usual ?? length ?? UNKNOWN,
      length,
      exit: CLEAN,
      onTerm: command.onTerm,
      prints: null,
      readyAt: null,
      descendants: PLAIN.descendants,
      signalLost: false,
      prevented: false,
      lock: null,
      clash: null,
      stretches: null,
    };
  }
}

/** The ids of a population's runs: its background job, and its commands, counted from 1. */
const BACKGROUND = "background";
const COMMAND = "command-";

const numberOf = (id: string) => Number(id.slice(COMMAND.length));

/** What a command of a population is called that was given no line. One word for all: what a panel can run is a closed set. */
const NAMELESS = "a drawn command";

const lineOf = ({ line }: UndrawnCommand) => (line === "" ? NAMELESS : line);

/** Every command line that the tasks of a population can have. */
export function linesOf({ mix }: Population): readonly string[] {
  return [...new Set(mix.map(({ command }) => lineOf(command)))];
}

function ingredientOf(undrawn: UndrawnCommand): Ingredient {
  const command = { ...undrawn, line: lineOf(undrawn) };
  const [only] = command.phases;
  const plain =
    command.phases.length === 1 &&
    (only!.phase === "run" || only!.phase === "hang") &&
    only!.output.output === "none" &&
    only!.cpu === 0 &&
    command.exit === null &&
    command.passes.length === 0 &&
    command.spoils.length === 0 &&
    command.port === null &&
    command.lock === null &&
    command.signalLoss === 0;
  if (!plain) return { command, silent: null, endless: false };
  return { command, silent: only!.phase === "run" ? sampler(only!.seconds) : null, endless: only!.phase === "hang" };
}
