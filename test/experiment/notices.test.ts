/** Notices in place of looks at a quiet process: the published figure comes out, as long as the inputs stay as they were fitted. */
import { describe, expect, test } from "vitest";
import type { TrialEvent } from "../../src/agent/events.ts";
import { conductWorld } from "../../src/experiment/conduct.ts";
import { scheduled } from "../../src/experiment/schedule.ts";
import { keyed } from "../../src/random.ts";
import { loadPanel } from "../../src/scenario/load.ts";
import { only } from "../aRun.ts";

const tokensOf = (events: readonly TrialEvent[]) =>
  only(events, "model_asked").reduce((sum, { prompt, output }) => sum + prompt + output, 0);
const looksOf = (events: readonly TrialEvent[]) => only(events, "process_called").length;

describe("panels/notices-instead-of-polls.yaml", () => {
  const panel = loadPanel("panels/notices-instead-of-polls.yaml");
  const tasks = scheduled(panel, keyed);
  const worlds = Array.from({ length: panel.replicates }, (_, n) => {
    const came = new Map<string, { tokens: number; looks: number; told: number; submitted: boolean }>();
    conductWorld(panel, tasks, n + 1, ({ arm, events }) => {
      const [submitted] = only(events, "submitted");
      const told = only(events, "told").length;
      came.set(arm.arm, { tokens: tokensOf(events), looks: looksOf(events), told, submitted: submitted !== undefined });
    });
    return { polls: came.get("polls")!, notices: came.get("notices")! };
  });

  test("saves 45 % of the tokens on the whole, as published, and between a quarter and two thirds each time", () => {
    const sum = (of: (world: (typeof worlds)[number]) => number) =>
      worlds.reduce((total, world) => total + of(world), 0);
    const whole = 1 - sum(({ notices }) => notices.tokens) / sum(({ polls }) => polls.tokens);
    expect(whole).toBeCloseTo(0.457, 2);
    const saved = worlds.map(({ polls, notices }) => 1 - notices.tokens / polls.tokens).sort((a, b) => a - b);
    expect(saved[1]!).toBeLessThan(0.45);
    expect(saved.at(-2)!).toBeGreaterThan(0.45);
    expect(saved[0]!).toBeGreaterThan(0.2);
    expect(saved.at(-1)!).toBeLessThan(0.67);
  });

  test("takes some forty looks against one, which reads the result, and earns the same", () => {
    for (const { polls, notices } of worlds) {
      expect(polls.looks).toBeGreaterThan(10);
      expect([polls.told, notices.looks, notices.told]).toEqual([0, 1, 1]);
      expect([polls.submitted, notices.submitted]).toEqual([true, true]);
    }
  });
});
