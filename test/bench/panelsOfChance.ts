/**
 * Small panels, many times over, judged as any panel is: once with two arms that are alike, once with an effect planted.
 *
 * Two arms that are alike and meet the same luck are alike to the last row, so that nothing could ever be found. Here each arm has
 * worlds of its own: one arm is simulated in many worlds, and of every two neighbours the second is called the other arm. What then
 * differs is luck. Whatever is judged goes the whole way from the rows of a file to PASS, FAIL or NOT SHOWN.
 */
import { conductAndKeep, dictionariesOf } from "../../src/cli/keep.ts";
import { keyed } from "../../src/random.ts";
import { estimate } from "../../src/report/estimates.ts";
import type { Experiment, Hypothesis } from "../../src/report/experiment.ts";
import { judgeHypotheses } from "../../src/report/judged.ts";
import { measureCalled } from "../../src/report/measures.ts";
import { loadPanel } from "../../src/scenario/load.ts";
import type { ClusterSum } from "../../src/stats/paired.ts";
import { minimalDetectable } from "../../src/stats/power.ts";
import type { Verdict } from "../../src/stats/verdict.ts";
import { openStore, type Reading, readStore } from "../../src/telemetry/store.ts";
import { TABLES } from "../../src/telemetry/tables.ts";

export interface Study {
  readonly panel: string;
  readonly experiments: number;
  /** Of each experiment. */
  readonly replicates: number;
  /** Where rows may lie while it lasts. */
  readonly database: string;
}

export interface OfChance {
  /** Seconds by which the second arm is quicker; 0: the arms are alike. */
  readonly planted: number;
  /** Of each experiment, what its hypotheses come to. */
  readonly judged: readonly (readonly { readonly verdict: Verdict; readonly p: number }[])[];
}

export interface Studied {
  readonly alike: OfChance;
  /** With an effect of the size that so many replicates are planned to show four times in five. */
  readonly planted: OfChance;
}

const DURATION: Hypothesis = { measure: "duration_seconds", arm: "second", against: "first", expect: "lower" };
const TIMEOUTS: Hypothesis = { ...DURATION, measure: "outer_timeout" };

export async function panelsOfChance(study: Study): Promise<Studied> {
  const { experiments, replicates, database } = study;
  const tasks = await simulated(study);
  const reading = await readStore(database);
  try {
    const clusters = await differences(reading);
    const key = keyed.within(keyed.seeded(1), "planned");
    const size = minimalDetectable({ clusters, n: replicates, alpha: 0.05, draws: keyed, key }, 0.8);
    const each = async (planted: number, hypotheses: readonly Hypothesis[]): Promise<OfChance> => {
      const judged: OfChance["judged"][number][] = [];
      for (let experiment = 0; experiment < experiments; experiment += 1) {
        await asArms(reading, experiment, study, tasks, planted);
        judged.push(await judge(reading, experiment, hypotheses));
      }
      return { planted, judged };
    };
    return { alike: await each(0, [DURATION, TIMEOUTS]), planted: await each(size, [DURATION]) };
  } finally {
    await reading.close();
  }
}

/** Every world of every experiment, one after the other, in one file. */
async function simulated({ panel: path, experiments, replicates, database }: Study): Promise<number> {
  const panel = loadPanel(path, { replicates: experiments * replicates * 2 });
  const experimentId = "chance";
  const store = await openStore(database, TABLES, dictionariesOf(panel, experimentId), { existing: "replace" });
  try {
    await conductAndKeep({ panel, detail: "trials", experimentId, store, onWorld: async () => true });
  } finally {
    await store.close();
  }
  return "population" in panel.source ? panel.source.population.tasks : panel.source.scenarios.length;
}

/** Of every two worlds, by how much the second's durations are longer: what a plan would be made from. */
async function differences(reading: Reading): Promise<readonly ClusterSum[]> {
  return reading.rows<{ sum: number; n: number }>(
    `SELECT sum(CASE replicate % 2 WHEN 0 THEN 1 ELSE -1 END * duration_seconds)::DOUBLE AS sum, (count(*) / 2)::INTEGER AS n
     FROM trials GROUP BY (replicate + 1) // 2 ORDER BY (replicate + 1) // 2`,
  );
}

/** `trials` is what one experiment holds, as a panel of two arms would have written it. */
async function asArms(reading: Reading, experiment: number, { replicates }: Study, tasks: number, planted: number) {
  const first = experiment * replicates * 2;
  const second = "replicate % 2 = 0";
  const own = `(replicate - ${first} + 1) // 2`;
  const [file] = await reading.rows<{ name: string }>("SELECT current_database() AS name");
  await reading.rows(
    `CREATE OR REPLACE TEMP VIEW trials AS SELECT * REPLACE (
       CASE WHEN ${second} THEN 'second' ELSE 'first' END AS arm,
       (${own})::INTEGER AS replicate,
       (${own} * ${tasks} + (pair_key - 1) % ${tasks})::INTEGER AS pair_key,
       CASE WHEN ${second} THEN duration_seconds - ${planted}::DECIMAL(15, 3) ELSE duration_seconds END AS duration_seconds)
     FROM "${file!.name}".main.trials WHERE replicate BETWEEN ${first + 1} AND ${first + replicates * 2}`,
  );
}

async function judge(reading: Reading, experiment: number, hypotheses: readonly Hypothesis[]) {
  const panel = {
    row: { seed: experiment, tasks: 1 },
    arms: [{ row: { arm: "first" } }, { row: { arm: "second" } }],
    worlds: [],
    hypotheses,
    hasCalls: false,
    withheld: null,
    design: { by: "replicate", says: "" },
  } as unknown as Experiment;
  const comparisons = [{ arm: "second", against: "first" }];
  const measures = hypotheses.map(({ measure }) => measureCalled(measure)!);
  const estimates = await estimate(reading, panel, comparisons, () => false, { kind: null, measures });
  const evidence = { among: () => estimates, zeros: new Map() };
  return judgeHypotheses(panel, evidence, (arm) => arm).map(({ verdict, chance }) => ({ verdict, p: chance!.p }));
}
