import { describe, expect, test } from "vitest";
import { conductWorld, type FinishedTrial } from "../../src/experiment/conduct.ts";
import { conductParts } from "../../src/experiment/parts.ts";
import { scheduled, trialsOf } from "../../src/experiment/schedule.ts";
import { keyed } from "../../src/random.ts";
import { loadPanel } from "../../src/scenario/load.ts";

const panel = loadPanel("public-cases", { replicates: 2 });
const trials = (replicate: number) => {
  const found: FinishedTrial[] = [];
  const world = conductParts(panel, replicate, (trial) => found.push(trial));
  return { found, world };
};

describe("a gallery", () => {
  test("has of each case the trials that the case has alone", () => {
    const { found } = trials(1);
    let at = 0;
    for (const { file, panel: name } of panel.cases) {
      const alone = loadPanel(file);
      const own: FinishedTrial[] = [];
      conductWorld(alone, scheduled(alone, keyed), 1, (trial) => own.push(trial));
      for (const trial of own) {
        const here = found[at]!;
        at += 1;
        expect(here.arm.arm).toBe(`${name}/${trial.arm.arm}`);
        const facts = ({ task, replicate, events, grade, oracle, endedAt }: FinishedTrial) => ({
          scenario: task.scenario,
          ...{ replicate, events, grade, oracle, endedAt },
        });
        expect(facts(here)).toEqual(facts(trial));
      }
    }
    expect(found).toHaveLength(at);
    expect(trialsOf(panel)).toBe(at);
  });

  test("numbers its trials and pairs through, over all cases and replicates, each once", () => {
    const all = [1, 2].flatMap((replicate) => trials(replicate).found);
    const ids = all.map(({ trialId }) => trialId).sort((a, b) => a - b);
    expect(ids).toEqual(Array.from({ length: 2 * trialsOf(panel) }, (_, at) => at + 1));
    const pairs = new Map<number, Set<string>>();
    for (const { pairKey, task, replicate, arm } of all) {
      const [name] = arm.arm.split("/");
      pairs.set(pairKey, (pairs.get(pairKey) ?? new Set()).add(`${name} ${task.scenario} ${replicate}`));
    }
    for (const those of pairs.values()) expect(those.size).toBe(1);
    const scenarios = panel.cases.reduce(
      (sum, { source }) => sum + ("scenarios" in source ? source.scenarios.length : 0),
      0,
    );
    expect(pairs.size).toBe(2 * scenarios);
  });

  test("tells one world of as many arms as it has, at matched concurrency", () => {
    const { world } = trials(1);
    expect(world.occupancy).toHaveLength(panel.arms.length);
    expect(world.meanConcurrency).toHaveLength(panel.arms.length);
    expect(world.concurrencyGap).toBe(0);
  });
});
