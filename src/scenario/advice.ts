/**
 * What a panel cannot show, told before anyone has run it.
 *
 * Advice, not faults: such a panel runs, and answers another question than its reader may think. Most of it is read off the
 * tasks as they are drawn, for seed and replicates stand in the panel: what is not among them, it will not meet.
 */
import type { Kind } from "../agent/effects.ts";
import type { Profile } from "../agent/model.ts";
import { type Plan, type RunStep, runsOf, type Step } from "../agent/plan.ts";
import { reserveBegins, runBudget } from "../policy/budget.ts";
import { sliceOf } from "../policy/hold.ts";
import { type Duration, inSeconds } from "../policy/time.ts";
import { keyed } from "../random.ts";
import type { ScriptedCommand } from "../world/script.ts";
import { type Arm, toldBudget } from "./arm.ts";
import { compilePopulation, drawScenario, replicateKey, type Task } from "./draw.ts";
import { listed, type Path } from "./fault.ts";
import type { Panel } from "./panel.ts";
import { profileIn } from "./situation.ts";

/** The rest of a sentence that begins with what stands at a place of the panel. */
export interface Advice {
  readonly path: Path;
  readonly says: string;
}

export function adviceOn(panel: Panel): readonly Advice[] {
  // What a gallery cannot show, each of its cases is told by itself.
  if (panel.cases.length > 0) return [];
  const tasks = tasksOf(panel);
  return [
    ...ofKinds(panel, tasks),
    ...ofOneScenario(panel),
    ...ofArms(panel, (arm) => outlivedCache(arm, panel)),
    ...ofArms(panel, (arm) => idleBudget(arm, tasks)),
    ...ofFactors(panel),
  ];
}

/** Beyond so many tasks nobody waits for advice: what they are like, these show. */
const MOST_TASKS = 10_000;

function tasksOf({ source, seed, replicates }: Panel): readonly Task[] {
  const each = "population" in source ? source.population.tasks : source.scenarios.length;
  const draw = "population" in source ? compilePopulation(source.population, keyed) : null;
  return Array.from({ length: Math.min(each * replicates, MOST_TASKS) }, (_, at) => {
    const key = replicateKey(keyed, seed, 1 + Math.floor(at / each));
    return "scenarios" in source ? drawScenario(source.scenarios[at % each]!, keyed, key) : draw!(at % each, key);
  });
}

const placeOfTasks = ({ source }: Panel): Path => ["population" in source ? "population" : "scenarios"];

function ofKinds(panel: Panel, tasks: readonly Task[]): readonly Advice[] {
  const kinds = new Set<Kind>();
  for (const { plan } of tasks)
    for (const step of plan) for (const { command } of runsOf(step)) kinds.add(command.kind!);
  const path = placeOfTasks(panel);
  if (kinds.size === 0) return [{ path, says: "has no command that is run: it says nothing about holds" }];
  if (kinds.size === 1 && kinds.has("quick")) {
    const says =
      "has quick commands only, under 10 s each: it supports turn reduction, and says nothing about long-tail safety";
    return [{ path, says }];
  }
  return [
    ...(kinds.has("hanging")
      ? []
      : [{ path, says: "has no command that hangs: it cannot show what becomes of a hold on one" }]),
    ...(kinds.has("long_finite")
      ? []
      : [
          {
            path,
            says: "has no finite command of 10 s or more: it cannot show what it costs to give one up too early",
          },
        ]),
  ];
}

function ofOneScenario({ source }: Panel): readonly Advice[] {
  if ("population" in source || source.scenarios.length > 1) return [];
  return [{ path: ["scenarios"], says: "is one scenario only: it shows what happens there, and nothing about others" }];
}

/** The same advice to several arms is given once, where the first of them stands. */
function ofArms({ arms, crossed }: Panel, advise: (arm: Arm) => string | null): readonly Advice[] {
  const told = new Map<string, number[]>();
  for (const [at, arm] of arms.entries()) {
    const says = advise(arm);
    if (says !== null) told.set(says, [...(told.get(says) ?? []), at]);
  }
  return [...told].map(([says, those]) => ({
    path: crossed ? ["factors"] : ["arms", those[0]!],
    says: `${says} (${some(those.map((at) => arms[at]!.arm))})`,
  }));
}

function some(names: readonly string[]): string {
  return names.length <= 4 ? listed(names) : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
}

/** Where waits may outlive the provider's cache: what is asked after such a one pays for the whole prompt again. */
function outlivedCache({ settings, budget, profile, provider }: Arm, { source }: Panel): string | null {
  if (provider === null || provider.economy.cache === null) return null;
  const { lifetime } = provider.economy.cache;
  const { processPollMaxWait: ceiling, processPollDefaultWait: usual, maxHold } = settings;
  if (settings.cacheAwareSlice) return null;
  // Of a budget only whether it is told is of interest here.
  const told = budget === "untold" ? null : runBudget({ runBudget: lifetime }, settings);
  const slice = sliceOf(settings, told, profile.cadence);
  const bound = Math.min(...[slice, ceiling, maxHold].map((each) => each ?? Number.POSITIVE_INFINITY));
  if (bound < lifetime) return null;
  const outlives = `and the cache of ${provider.provider} lives for ${inSeconds(lifetime)} s: such a wait outlives it, and pays for the whole prompt again`;
  if (bound === slice) return `has slices of ${inSeconds(slice)} s, ${outlives}`;
  if (usual >= lifetime) return `has a default wait of ${inSeconds(usual)} s, ${outlives}`;
  const profiles = "scenarios" in source ? source.scenarios.map(({ model }) => profileIn(model, profile)) : [profile];
  const longest = Math.min(bound, Math.max(...profiles.map(longestAsked)));
  if (longest < lifetime) return null;
  const waits = Number.isFinite(longest) ? `${inSeconds(longest as Duration)} s` : "any length";
  return `has no slice and waits of ${waits}, ${outlives}`;
}

/** The longest wait that a model may ask for; infinite where luck or the budget decides. */
function longestAsked({ waits, cadence }: Profile): number {
  return Math.max(
    0,
    ...waits.map(({ length }) => {
      if (typeof length === "number") return length;
      if ("cadence" in length) return cadence ?? 0;
      if ("ladder" in length) return Math.max(...length.ladder);
      if ("drawn" in length || "shareOfRemaining" in length) return Number.POSITIVE_INFINITY;
      return Math.max(...length.map((each) => each.length));
    }),
  );
}

/** Where a budget is told that no task can come near: even all of the longest one's work is done before the reserve begins. */
function idleBudget(arm: Arm, tasks: readonly Task[]): string | null {
  // What a provider or shared cores add to a task, nobody can tell beforehand.
  if (arm.budget === "untold" || arm.provider !== null || arm.host !== null || arm.profile.oracle) return null;
  let longest = 0;
  let earliest = Number.POSITIVE_INFINITY;
  for (const { plan, outerLimit } of tasks) {
    const begins = reserveBegins(runBudget(toldBudget(arm, outerLimit)!, arm.settings));
    longest = Math.max(longest, mostWork(plan, arm));
    earliest = Math.min(earliest, begins);
    if (longest >= earliest) return null;
  }
  if (tasks.length === 0) return null;
  return `is told of a budget that never binds: even the longest task is over within ${Math.ceil(longest / 1_000)} s, and the reserve begins at ${inSeconds(earliest as Duration)} s`;
}

/** More time than a plan can take: everything one after the other, and some steps for each thing; infinite if it may not end. */
function mostWork(plan: Plan, arm: Arm): number {
  return plan.reduce((sum, step) => sum + mostOf(step, arm), 0);
}

/** Steps that dealing with one command takes beside the command itself: before a refusal, after it, and before its end is seen. */
const STEPS = 3;

function mostOf(step: Step, arm: Arm): number {
  const { step: own, reruns } = arm.profile;
  const usual = typeof own === "number" ? own : Number.POSITIVE_INFINITY;
  const run = ({ command }: RunStep) => {
    const { length } = command as ScriptedCommand;
    return (1 + reruns.atMost) * ((length ?? Number.POSITIVE_INFINITY) + STEPS * usual);
  };
  switch (step.step) {
    case "think":
      return step.length;
    case "think_steps":
      return step.steps * usual;
    case "run":
      return run(step);
    case "until_answers":
      return step.atMost * usual;
    case "until_succeeds":
      return [...step.attempts.map(run), ...step.thoughts].reduce((sum, each) => sum + each, 0);
    case "together":
      return step.of.reduce((sum, each) => sum + mostOf(each, arm), 0);
    case "job":
      return mostWork(step.plan, arm);
    case "commit":
    case "submit":
      return 0;
    default:
      return usual;
  }
}

/** Where arms differ in a factor only together with others: what it does cannot be told from what they do. */
function ofFactors({ arms, crossed, declaredFactors }: Panel): readonly Advice[] {
  if (crossed || declaredFactors.length < 2) return [];
  const differing = (one: Arm, other: Arm) =>
    declaredFactors.filter((name) => one.factors[name] !== other.factors[name]);
  const pairs = arms.flatMap((one, at) => arms.slice(at + 1).map((other) => differing(one, other)));
  const alone = new Set(pairs.flatMap((names) => (names.length === 1 ? names : [])));
  const mixed = declaredFactors.filter((name) => !alone.has(name) && pairs.some((names) => names.includes(name)));
  if (mixed.length === 0) return [];
  const [does, only] = mixed.length === 1 ? ["does by itself", "it"] : ["do by themselves", "one of them"];
  const says = `leaves open what ${listed(mixed)} ${does}: no two arms differ in ${only} alone; cross the factors, or add arms between`;
  return [{ path: ["factors"], says }];
}
