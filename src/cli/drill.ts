/**
 * The trials that a report shows moment by moment: where arms came out most differently.
 *
 * Which these are is known only once all worlds are done, and events of all trials would be too many to keep. So the few worlds that hold
 * them are conducted once more. The same luck gives the same trials, and it is checked that it did. Their events are outside the
 * digest, like those of exhibits.
 */
import { conductWorld } from "../experiment/conduct.ts";
import { partsOf, scheduled, tasksOf } from "../experiment/schedule.ts";
import { keyed } from "../random.ts";
import type { Panel } from "../scenario/load.ts";
import { openEvents, pushEvents } from "../telemetry/rows.ts";
import type { Store } from "../telemetry/store.ts";
import type { Batch } from "../telemetry/table.ts";
import { BrokenPromise } from "../world/kernel.ts";
import { throughout } from "../world/simulated.ts";

/** Trials of all arms together, pairs, and worlds to conduct again, at most. */
const MOST_TRIALS = 48;
const MOST_PAIRS = 8;
const MOST_WORLDS = 4;
/** So many trials are conducted again in a moment. */
const SMALL_TRIALS = 1_000;

interface Chosen {
  readonly replicate: number;
  readonly pair_key: number;
}

/** Writes the events of the trials to be shown; nothing where arms have nothing to differ in, or all events are kept anyway. */
export async function keepDrilled(panel: Panel, store: Store): Promise<void> {
  const pairs = Math.min(MOST_PAIRS, Math.floor(MOST_TRIALS / panel.arms.length));
  if (partsOf(panel).length > 0 || panel.arms.length < 2 || pairs === 0) return;
  const chosen = await mostDifferent(store, pairs, worldsFor(panel));
  const durations = new Map(
    (
      await store.rows<{ trial_id: number; milliseconds: number }>(
        `SELECT trial_id, (duration_seconds * 1000)::BIGINT AS milliseconds FROM trials WHERE pair_key IN (${chosen.map(({ pair_key }) => pair_key).join(", ") || "NULL"})`,
      )
    ).map(({ trial_id, milliseconds }) => [trial_id, milliseconds]),
  );
  const tasks = scheduled(panel, keyed);
  const batch = openEvents(store.dictionaries);
  for (const replicate of new Set(chosen.map((each) => each.replicate))) {
    conductWorld(panel, tasks, replicate, (trial) => {
      const { trialId, arm, startedAt, endedAt } = trial;
      const kept = durations.get(trialId);
      if (kept === undefined) return;
      if (kept !== endedAt - startedAt) {
        throw new BrokenPromise(
          `invariant: a world that is conducted again is the same (seed ${panel.seed}, replicate ${replicate}, trial ${trialId}: ${kept} ms, then ${endedAt - startedAt})`,
        );
      }
      pushEvents(throughout(trial), { trialId, exhibit: null, arm: arm.arm, seed: panel.seed, replicate }, batch);
    });
  }
  await store.appendWorlds([batch as Batch]);
}

/** Pairs in which arms differ most: in being cut off, then in reward, then in duration; from few worlds. */
async function mostDifferent(store: Store, pairs: number, most: number): Promise<readonly Chosen[]> {
  const ranked = (where: string, count: number) =>
    store.rows<Chosen>(
      `SELECT replicate, pair_key FROM trials ${where} GROUP BY ALL HAVING max(duration_seconds) > min(duration_seconds)
     ORDER BY max(outer_timeout::INTEGER) - min(outer_timeout::INTEGER) DESC, coalesce(max(reward) - min(reward), 0) DESC,
       max(duration_seconds) - min(duration_seconds) DESC, pair_key LIMIT ${count}`,
    );
  const first = await ranked("", pairs * most);
  const worlds = [...new Set(first.map(({ replicate }) => replicate))].slice(0, most);
  return worlds.length === 0 ? [] : ranked(`WHERE replicate IN (${worlds.join(", ")})`, pairs);
}

/** A fifth of the run's worlds, so that it takes little longer for it; more where worlds are small, and one at least. */
function worldsFor(panel: Panel): number {
  const small = Math.floor(SMALL_TRIALS / (tasksOf(panel) * panel.arms.length));
  return Math.max(1, Math.min(MOST_WORLDS, Math.max(Math.floor(panel.replicates / 5), small)));
}
