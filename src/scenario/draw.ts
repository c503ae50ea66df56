/**
 * What a situation turns out to be, under one seed in one replicate: scripts for its commands, lengths for its thoughts.
 *
 * Every draw is keyed by what it is for: seed, replicate, scenario, step, attempt, purpose. So an arm changes no draw, and
 * neither does the order in which tasks are asked for. A population's tasks are drawn by the hundred thousand: what does
 * not depend on luck is made once for the population, and what does is put together without ceremony.
 */
import type { Kind, Test } from "../agent/effects.ts";
import type { Grading, Plan, Step } from "../agent/plan.ts";
import { type Duration, seconds } from "../policy/time.ts";
import type { Draws, Key } from "../random.ts";
import { type Exit, kindOf, type Phase, type ScriptedCommand, scripted } from "../world/script.ts";
import { chosen, type Sampler, sampler } from "./distribution.ts";
import type { ModelChanges, Population, Scenario, UndrawnCommand } from "./situation.ts";

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
  /** Of this scenario in this replicate: what habits are keyed by. */
  readonly key: Key;
}

/** What everything drawn in one replicate is keyed by. */
export function replicateKey(luck: Draws, seed: number, replicate: number): Key {
  return luck.within(luck.seeded(seed), replicate);
}

/** Every step of a plan is done for the first time here: a rerun would be attempt 1, and shift nothing. */
const FIRST_ATTEMPT = 0;

/** A scenario as it turns out in the replicate of this key. */
export function drawScenario(scenario: Scenario, luck: Draws, replicate: Key): Task {
  const key = luck.within(replicate, scenario.scenario);
  const purpose = (id: string, drawnFor: string) =>
    luck.within(luck.within(luck.within(key, id), FIRST_ATTEMPT), drawnFor);
  let kind: Kind = "quick";
  const plan = scenario.plan.map((step): Step => {
    switch (step.step) {
      case "think": {
        const uniform = luck.uniform(purpose(step.id, "thinking"));
        return { step: "think", length: seconds(sampler(step.seconds)(uniform)) };
      }
      case "run": {
        const { id, background, timeout } = step;
        const command = drawCommand(scenario.commands[step.command]!, luck, purpose(id, "phases"), 0);
        kind = graver(kind, command.kind!);
        // Looking at a process without waiting for it takes the model its usual step, whatever there is to see.
        return { step: "run", id, command, background, timeout, thenStep: background };
      }
      case "status":
        return { step: "status", of: step.of, thenStep: true };
      default:
        return step;
    }
  });
  const { outerLimit, model, grading } = scenario;
  return { scenario: scenario.scenario, kind, outerLimit, plan, model, grading, key };
}

/** A command as it turns out. @param ordinal of the first phase's draw within `key` */
function drawCommand(command: UndrawnCommand, luck: Draws, key: Key, ordinal: number): ScriptedCommand {
  const { line, onTerm, passes, spoils, exit } = command;
  const phases = command.phases.map((phase, at): Phase => {
    if (phase.phase === "hang") return phase;
    return {
      phase: "run",
      length: seconds(sampler(phase.seconds)(luck.uniform(key, ordinal + at))),
      output: phase.output,
    };
  });
  return scripted({ line, phases, onTerm, passes, spoils, ...(exit === null ? {} : { exit }) });
}

function graver(one: Kind, other: Kind): Kind {
  if (one === "hanging" || other === "hanging") return "hanging";
  return one === "long_finite" || other === "long_finite" ? "long_finite" : "quick";
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
const CLEAN: Exit = { code: 0, signal: null };
const NO_TESTS: readonly Test[] = [];

/** How one part of the mix becomes a command. */
interface Ingredient {
  readonly command: UndrawnCommand;
  /** Where it is one silent stretch and a clean end: how long. Null where it takes the long way. */
  readonly silent: Sampler | null;
  readonly endless: boolean;
}

/** A population made ready to be drawn from, many times over. */
export function compilePopulation(population: Population, luck: Draws): TaskDrawer {
  const { tasks, outerLimit, grading, mix, backgroundJobProbability } = population;
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
      const job = luck.within(luck.within(key, "background"), FIRST_ATTEMPT);
      const command = draw(job);
      plan.push({ step: "run", id: "background", command, background: true, timeout: null, thenStep: true });
      plan.push({ step: "status", of: "background", thenStep: true });
    }

    const commands = luck.within(key, "commands");
    let kind: Kind = "quick";
    let thought = 0;
    for (let at = 0; at < n; at++) {
      // Whole milliseconds that add up to the total: each gap ends where its share of the whole ends.
      const until = Math.floor((thinking * (at + 1)) / (n + 1));
      plan.push({ step: "think", length: (until - thought) as Duration });
      thought = until;
      ids[at] ??= `command-${at + 1}`;
      const id = ids[at]!;
      const command = draw(luck.within(luck.within(commands, at), FIRST_ATTEMPT));
      if (command.kind !== "quick") kind = graver(kind, command.kind!);
      plan.push({ step: "run", id, command, background: false, timeout: null, thenStep: false });
    }
    plan.push({ step: "think", length: (thinking - thought) as Duration }, COMMIT, SUBMIT);
    return { scenario, kind, outerLimit, plan, model: NO_CHANGES, grading, key };
  };

  function draw(key: Key): ScriptedCommand {
    const at = mix.length === 1 ? 0 : chosen(mix, luck.uniform(key, WHICH));
    const { command, silent, endless } = ingredients[at]!;
    if (!endless && silent === null) return named(drawCommand(command, luck, key, FIRST_PHASE));
    const length = silent === null ? null : seconds(silent(luck.uniform(key, FIRST_PHASE)));
    return {
      line: command.line === "" ? NAMELESS : command.line,
      kind: kindOf(length),
      passes: NO_TESTS,
      spoils: NO_TESTS,
      length,
      exit: CLEAN,
      onTerm: command.onTerm,
      prints: null,
    };
  }
}

/** What a command of a population is called that was given no line. One word for all: what a panel can run is a closed set. */
const NAMELESS = "a drawn command";

function named(command: ScriptedCommand): ScriptedCommand {
  return command.line === "" ? { ...command, line: NAMELESS } : command;
}

/** Every command line that the tasks of a population can have. */
export function linesOf({ mix }: Population): readonly string[] {
  return [...new Set(mix.map(({ command }) => (command.line === "" ? NAMELESS : command.line)))];
}

function ingredientOf(command: UndrawnCommand): Ingredient {
  const [only] = command.phases;
  const plain =
    command.phases.length === 1 &&
    only!.output.output === "none" &&
    command.exit === null &&
    command.passes.length === 0 &&
    command.spoils.length === 0;
  if (!plain) return { command, silent: null, endless: false };
  return { command, silent: only!.phase === "run" ? sampler(only!.seconds) : null, endless: only!.phase === "hang" };
}
