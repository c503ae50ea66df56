/**
 * Keeps what an experiment did: folds trials into rows world by world, and hands whole worlds to the store.
 *
 * The digest of a world is taken here, over the rows as they were folded, before any database sees them.
 */
import { conductWorld, type FinishedTrial, type FinishedWorld, replay } from "../experiment/conduct.ts";
import { conductParts } from "../experiment/parts.ts";
import { partsOf, scheduled, tasksOf, trialsOf } from "../experiment/schedule.ts";
import { type Draws, keyed } from "../random.ts";
import { budgetInWords } from "../scenario/arm.ts";
import { drawScenario, linesOf, replicateKey, taskName } from "../scenario/draw.ts";
import type { Cell, Panel } from "../scenario/load.ts";
import { everyArm } from "../scenario/vary.ts";
import { addDigests, type Digest, digestOf, hex16, noRows } from "../telemetry/digest.ts";
import {
  foldTrial,
  openEvents,
  openInvocations,
  openNotices,
  openRequests,
  openTrials,
  openWaits,
  pushEvents,
} from "../telemetry/rows.ts";
import { Collector, type Store } from "../telemetry/store.ts";
import { type Batch, type Dictionaries, openBatch } from "../telemetry/table.ts";
import { arms, cases, experiments, published, SCHEMA_VERSION, worlds } from "../telemetry/tables.ts";
import { throughout } from "../world/simulated.ts";

export const DETAILS = ["calls", "trials", "events"] as const;
export type Detail = (typeof DETAILS)[number];

/** Everything about an execution that is not in its trials. Texts are as they go into the database. */
export interface Provenance {
  readonly experimentId: string;
  readonly inputDigest: string;
  readonly overrides: string;
  readonly lock: string | null;
  readonly versions: string;
  readonly git: string;
  readonly host: string;
  readonly command: string;
  readonly startedAt: string;
}

/** The closed sets of words of a panel, known before its first trial. */
export function dictionariesOf(panel: Panel, experimentId: string): Dictionaries {
  const tasks = tasksOf(panel);
  const { source } = panel;
  const scenarios = new Set<string>(panel.exhibits.map(({ scenario }) => scenario));
  const commands = new Set<string>();
  if ("population" in source) {
    const { population } = source;
    for (let index = 0; index < tasks; index += 1) scenarios.add(taskName(population.population, index));
    for (const line of linesOf(population)) commands.add(line);
  } else {
    for (const scenario of source.scenarios) {
      scenarios.add(scenario.scenario);
      for (const command of Object.values(scenario.commands)) commands.add(command.line);
    }
  }
  return {
    experiment: [experimentId],
    arm: everyArm(panel).map(({ arm }) => arm),
    scenario: [...scenarios],
    command: [...commands],
  };
}

/** Folds one world at a time. Its batches are used again and again. */
export class WorldRows {
  readonly #panel: Panel;
  readonly #experimentId: string;
  readonly #detail: Detail;
  readonly #trials;
  readonly #invocations;
  readonly #waits;
  readonly #requests;
  readonly #notices;
  readonly #events;
  readonly #worlds;

  constructor(panel: Panel, experimentId: string, detail: Detail, dictionaries: Dictionaries) {
    this.#panel = panel;
    this.#experimentId = experimentId;
    this.#detail = detail;
    this.#trials = openTrials(dictionaries);
    this.#invocations = openInvocations(dictionaries);
    this.#waits = openWaits(dictionaries);
    this.#requests = openRequests(dictionaries);
    this.#notices = openNotices(dictionaries);
    this.#events = openEvents(dictionaries);
    this.#worlds = openBatch(worlds, dictionaries);
  }

  take(trial: FinishedTrial): void {
    const { trialId, pairKey, arm, task, replicate, events, startedAt, endedAt, concurrency, grade, oracle } = trial;
    const facts = {
      trialId,
      experimentId: this.#experimentId,
      arm: arm.arm,
      scenario: task.scenario,
      kind: task.kind,
      replicate,
      pairKey,
      startedAt,
      endedAt,
      concurrency,
      grade,
      service: task.grading.service,
      oracle,
      afterCut: trial.afterCut,
    };
    const calls =
      this.#detail === "trials"
        ? null
        : { invocations: this.#invocations, waits: this.#waits, requests: this.#requests, notices: this.#notices };
    foldTrial(events, facts, this.#trials, calls);
    // A gallery shows the journals of its first replicate.
    if (this.#detail === "events" || (this.#panel.cases.length > 0 && replicate === 1)) {
      pushEvents(
        throughout(trial),
        { trialId, exhibit: null, arm: arm.arm, seed: this.#panel.seed, replicate },
        this.#events,
      );
    }
  }

  /** The world is whole: its own row, and all batches, until the next one is begun. */
  close(world: FinishedWorld): readonly Batch[] {
    const parts = this.#parts();
    const digest = parts.reduce<Digest>((sum, batch) => addDigests(sum, digestOf(batch)), noRows);
    const names = everyArm(this.#panel).map(({ arm }) => arm);
    const to = this.#worlds.columns;
    to.replicate.push(world.replicate);
    to.digest.push(hex16(digest));
    to.rows.push(digest.rows);
    to.delivered_events.push(world.delivered);
    to.ended_seconds.push(world.endedAt);
    to.first_queue_empty_seconds.push(world.firstQueueEmptyAt);
    to.mean_concurrency.push(
      JSON.stringify(Object.fromEntries(names.map((name, index) => [name, world.meanConcurrency[index]]))),
    );
    to.concurrency_gap.push(world.concurrencyGap);
    to.occupancy.push(
      JSON.stringify(
        Object.fromEntries(
          names.map((name, index) => {
            const { since, taken } = world.occupancy[index]!;
            return [name, since.map((at, step) => [at / 1_000, taken[step]])];
          }),
        ),
      ),
    );
    return [...parts, this.#worlds as Batch];
  }

  /** Forgets the world. */
  clear(): void {
    for (const batch of [...this.#parts(), this.#worlds]) batch.clear();
  }

  /** What its trials have left behind. */
  #parts(): readonly Batch[] {
    const calls = [this.#invocations, this.#waits, this.#requests, this.#notices];
    return [this.#trials, ...calls, this.#events] as readonly Batch[];
  }
}

export interface Conducting {
  readonly panel: Panel;
  readonly detail: Detail;
  readonly experimentId: string;
  readonly store: Store;
  readonly luck?: Draws;
  /** Told after each world; whether to go on. */
  readonly onWorld: (done: number, trials: number) => Promise<boolean>;
}

export interface Conducted {
  readonly worlds: number;
  readonly trials: number;
  readonly delivered: number;
  readonly rows: number;
}

/** Conducts every replicate and keeps its rows. Stops between two worlds if it is told to; what is done is kept. */
export async function conductAndKeep(spec: Conducting): Promise<Conducted> {
  const { panel, detail, experimentId, store, luck = keyed, onWorld } = spec;
  const collector = new Collector(store);
  const rows = new WorldRows(panel, experimentId, detail, store.dictionaries);
  const tasks = scheduled(panel, luck);
  const take = (trial: FinishedTrial) => rows.take(trial);
  const trialsPerWorld = trialsOf(panel);
  let delivered = 0;
  let written = 0;
  let done = 0;
  for (let replicate = 1; replicate <= panel.replicates; replicate += 1) {
    const world =
      partsOf(panel).length > 0
        ? conductParts(panel, replicate, take, luck)
        : conductWorld(panel, tasks, replicate, take, { luck });
    const batches = rows.close(world);
    await collector.take(batches);
    written += batches.reduce((sum, batch) => sum + batch.rows, 0);
    rows.clear();
    delivered += world.delivered;
    done = replicate;
    if (!(await onWorld(done, done * trialsPerWorld))) break;
  }
  await collector.close();
  return { worlds: done, trials: done * trialsPerWorld, delivered, rows: written };
}

/** What is known before the first trial: the experiment, its arms, the published figures, the exhibits. */
export function openingRows(
  panel: Panel,
  detail: Detail,
  from: Provenance,
  dictionaries: Dictionaries,
): readonly Batch[] {
  return [
    experimentRow(panel, detail, from, dictionaries),
    armRows(panel, dictionaries),
    caseRows(panel, dictionaries),
    publishedRows(panel, dictionaries),
    exhibitRows(panel, dictionaries),
  ] as readonly Batch[];
}

function experimentRow(panel: Panel, detail: Detail, from: Provenance, dictionaries: Dictionaries) {
  const batch = openBatch(experiments, dictionaries);
  const to = batch.columns;
  to.experiment_id.push(from.experimentId);
  to.schema_version.push(SCHEMA_VERSION);
  to.source.push("simulated");
  to.panel.push(panel.panel);
  to.question.push(panel.question);
  to.input_digest.push(from.inputDigest);
  to.inputs.push(JSON.stringify(panel.inputs));
  to.seed.push(panel.seed);
  to.replicates.push(panel.replicates);
  to.concurrency_per_arm.push(panel.concurrencyPerArm);
  to.cut_grace_seconds.push(panel.cutGrace);
  to.detail.push(detail);
  to.paired.push(true);
  to.population.push("population" in panel.source);
  to.tasks.push(tasksOf(panel));
  to.declared_factors.push(JSON.stringify(panel.declaredFactors));
  to.crossed.push(panel.crossed);
  to.hypotheses.push(JSON.stringify(panel.hypotheses));
  to.caveats.push(JSON.stringify(panel.caveats));
  to.inferred.push(null);
  to.overrides.push(from.overrides);
  to.lock.push(from.lock);
  to.versions.push(from.versions);
  to.git.push(from.git);
  to.host.push(from.host);
  to.command.push(from.command);
  to.started_at.push(from.startedAt);
  to.finished_at.push(null);
  return batch;
}

function armRows(panel: Panel, dictionaries: Dictionaries) {
  const batch = openBatch(arms, dictionaries);
  const to = batch.columns;
  const cells = new Map(
    panel.cells.flatMap((cell) => cell.panel.arms.map((arm, at) => [arm, cellOf(panel, cell, at)])),
  );
  for (const [index, arm] of everyArm(panel).entries()) {
    to.position.push(index + 1);
    to.arm.push(arm.arm);
    to.says.push(arm.says);
    to.policy.push(arm.policy);
    to.profile.push(arm.profile.profile);
    to.budget.push(budgetInWords(arm.budget));
    to.settings.push(JSON.stringify(arm.written));
    to.habits.push(JSON.stringify(arm.profile));
    to.provider.push(arm.provider === null ? null : JSON.stringify(arm.provider));
    to.host.push(arm.host === null ? null : JSON.stringify(arm.host));
    to.cut_reaches.push(arm.cutReaches);
    to.factors.push(JSON.stringify(arm.factors));
    to.of_case.push(panel.cases.find(({ arms }) => arms.includes(arm))?.panel ?? null);
    to.cell.push(cells.get(arm) ?? null);
  }
  return batch;
}

/** The cell that an arm is of, as JSON: the arm as the panel names it, the levels, and whether nothing is changed. */
function cellOf({ arms }: Panel, { levels, isOwn }: Cell, at: number): string {
  return JSON.stringify({ arm: arms[at]!.arm, levels, own: isOwn });
}

function caseRows(panel: Panel, dictionaries: Dictionaries) {
  const batch = openBatch(cases, dictionaries);
  const to = batch.columns;
  for (const { panel: name, file, question, origin, source } of panel.cases) {
    for (const [index, scenario] of ("scenarios" in source ? source.scenarios : []).entries()) {
      to.position.push(batch.rows + 1);
      to.of_case.push(name);
      to.file.push(file);
      to.question.push(question);
      to.source.push(origin);
      to.scenario.push(scenario.scenario);
      to.task.push(index + 1);
      to.says.push(scenario.says);
      to.scenario_question.push(scenario.question);
      to.scenario_source.push(scenario.source);
      to.outer_limit_seconds.push(scenario.outerLimit);
    }
  }
  return batch;
}

function publishedRows(panel: Panel, dictionaries: Dictionaries) {
  const batch = openBatch(published, dictionaries);
  const to = batch.columns;
  for (const figure of panel.published) {
    to.arm.push(figure.arm);
    to.against.push(figure.against);
    to.measure.push(figure.measure);
    to.low.push(figure.low);
    to.high.push(figure.high);
    to.source.push(figure.source);
  }
  return batch;
}

function exhibitRows(panel: Panel, dictionaries: Dictionaries) {
  const batch = openEvents(dictionaries);
  for (const scenario of panel.exhibits) {
    const weather = replicateKey(keyed, panel.seed, 1);
    const task = drawScenario(scenario, keyed, weather);
    for (const arm of panel.arms) {
      const owner = { trialId: null, exhibit: scenario.scenario, arm: arm.arm, seed: panel.seed, replicate: 1 };
      pushEvents(replay(arm, task, panel.cutGrace, weather), owner, batch);
    }
  }
  return batch;
}
