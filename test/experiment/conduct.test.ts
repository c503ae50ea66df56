/** One seed gives one digest, arms do not touch each other's luck, and concurrency is matched. */
import { describe, expect, test } from "vitest";
import { dictionariesOf, WorldRows } from "../../src/cli/keep.ts";
import { conductWorld, entrant, replay, replayAmidOthers } from "../../src/experiment/conduct.ts";
import { pairKey, scheduled, tasksOf, trialId } from "../../src/experiment/schedule.ts";
import { seconds } from "../../src/policy/time.ts";
import { type Draws, type Key, keyed } from "../../src/random.ts";
import { replicateKey } from "../../src/scenario/draw.ts";
import { loadPanel, type Panel, type PanelOptions } from "../../src/scenario/load.ts";
import { addDigests, type Digest, digestOf, hex16, noRows } from "../../src/telemetry/digest.ts";
import { simulate } from "../../src/world/simulated.ts";

const headline = (options: PanelOptions = {}) => loadPanel("deepswe-headline", { replicates: 3, ...options });

function digest(panel: Panel, luck: Draws = keyed): string {
  const rows = new WorldRows(panel, "digest", "calls", dictionariesOf(panel, "digest"));
  const tasks = scheduled(panel, luck);
  let sum: Digest = noRows;
  for (let replicate = 1; replicate <= panel.replicates; replicate += 1) {
    const world = conductWorld(panel, tasks, replicate, (trial) => rows.take(trial), { luck });
    for (const batch of rows.close(world)) sum = addDigests(sum, digestOf(batch));
    rows.clear();
  }
  return `${sum.rows} ${hex16(sum)}`;
}

describe("a panel", () => {
  test("conducted twice with one seed gives the same digest", () => {
    expect(digest(headline())).toBe(digest(headline()));
  });

  test("with another seed gives another", () => {
    expect(digest(headline({ seed: 2 }))).not.toBe(digest(headline()));
  });

  test("gives every trial a number of its own, and trials of one task and replicate one pair key", () => {
    const panel = headline();
    const numbers = new Set<number>();
    for (let replicate = 1; replicate <= panel.replicates; replicate += 1) {
      for (let task = 0; task < tasksOf(panel); task += 1) {
        for (const arm of panel.arms.keys()) numbers.add(trialId(panel, pairKey(panel, replicate, task), arm));
      }
    }
    expect(numbers.size).toBe(3 * tasksOf(panel) * panel.arms.length);
    expect(Math.min(...numbers)).toBe(1);
    expect(Math.max(...numbers)).toBe(numbers.size);
  });

  test("keeps the arms equally busy until the first of them runs out of trials", () => {
    const panel = headline();
    const world = conductWorld(panel, scheduled(panel, keyed), 1, () => {});
    expect(world.concurrencyGap).toBeLessThan(0.05);
    for (const mean of world.meanConcurrency) expect(mean).toBeGreaterThan(7.9);
    for (const { taken } of world.occupancy) expect(Math.max(...taken)).toBe(8);
  });
});

describe("luck", () => {
  /** Digests every draw: what for, and what came. */
  class Witness implements Draws {
    sum = 0n;
    count = 0;
    seeded(seed: number): Key {
      return keyed.seeded(seed);
    }
    within(key: Key, part: string | number): Key {
      return keyed.within(key, part);
    }
    uniform(key: Key, ordinal = 0): number {
      const value = keyed.uniform(key, ordinal);
      this.count += 1;
      const told = BigInt(key.high >>> 0) * 31n + BigInt(key.low >>> 0) * 17n + BigInt(ordinal) * 7n;
      this.sum += (told + BigInt(Math.floor(value * 2 ** 53))) % (1n << 64n);
      return value;
    }
  }

  /** Every arm with a witness of its own, and one for the tasks. */
  function drawsOf(panel: Panel): Record<string, string> {
    const tasksWitness = new Witness();
    const tasks = scheduled(panel, tasksWitness)(1);
    const witnesses = panel.arms.map(() => new Witness());
    simulate({
      first: 0,
      cutGrace: seconds(10),
      lanes: panel.arms.map((arm, index) => ({
        slots: 8,
        entrants: tasks.map((task) => entrant(arm, task, witnesses[index]!, () => {})),
      })),
    });
    const told = (witness: Witness) => `${witness.count} ${witness.sum}`;
    return {
      tasks: told(tasksWitness),
      ...Object.fromEntries(panel.arms.map(({ arm }, index) => [arm, told(witnesses[index]!)])),
    };
  }

  test("of an arm does not change with another arm's policy", () => {
    const before = drawsOf(headline());
    const after = drawsOf(headline({ sets: ["budgeted.process_wait_slice_seconds=60"] }));
    expect(after["tasks"]).toBe(before["tasks"]);
    expect(after["control"]).toBe(before["control"]);
    expect(after["treatment"]).toBe(before["treatment"]);
    expect(after["budgeted"]).not.toBe(before["budgeted"]);
  });

  test("of an arm does not depend on which other arms there are", () => {
    const panel = headline();
    const alone = { ...panel, arms: panel.arms.filter(({ arm }) => arm === "treatment") };
    expect(drawsOf(alone)["treatment"]).toBe(drawsOf(panel)["treatment"]);
  });
});

describe("a trial that has others in its queue", () => {
  const plain = loadPanel("panels/long-tail.yaml", { replicates: 1 });
  /** One provider for all arms, which serves two requests at once. */
  const panel: Panel = {
    ...plain,
    arms: plain.arms.map((arm) => ({
      ...arm,
      provider: { ...arm.provider!, scope: "world", terms: { ...arm.provider!.terms, inFlight: 2 } },
    })),
  };
  const tasks = scheduled(panel, keyed);
  const [arm] = panel.arms;

  test("is replayed amid them as it was in its world, which is not how it goes alone", () => {
    const [task] = tasks(1);
    let inItsWorld: unknown = null;
    conductWorld(panel, tasks, 1, (trial) => {
      if (trial.arm.arm === arm!.arm && trial.task.scenario === task!.scenario) inItsWorld = trial.events;
    });
    expect(replayAmidOthers(panel, tasks, 1, arm!, task!.scenario)).toEqual(inItsWorld);
    const alone = replay(arm!, task!, panel.cutGrace, replicateKey(keyed, panel.seed, 1));
    expect(alone).not.toEqual(inItsWorld);
  });
});
