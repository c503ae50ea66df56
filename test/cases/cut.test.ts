/** Public reports about cuts at the outer limit: what was seen where a cut reached only the client, and must be where it reaches the agent. */
import { describe, expect, test } from "vitest";
import { conductWorld, type FinishedTrial } from "../../src/experiment/conduct.ts";
import { scheduled } from "../../src/experiment/schedule.ts";
import { keyed } from "../../src/random.ts";
import { loadPanel } from "../../src/scenario/load.ts";
import { rowsOf } from "../rowsOf.ts";
import { observed, the } from "./observed.ts";

describe("C41: a deadline at 900 s, while a model is asked what to do next", () => {
  const all = observed("c41-working-while-graded");
  const panel = loadPanel("panels/cases/c41-working-while-graded.yaml");
  const trials: FinishedTrial[] = [];
  const world = conductWorld(panel, scheduled(panel, keyed), 1, (trial) => trials.push(trial));
  const of = (name: string) => trials.find(({ arm }) => arm.arm === name)!;
  const rowOf = (name: string) => rowsOf(of(name)).trial;

  test("either way it is a timeout at 900 s, graded for what there was by then, its service alive and nobody else", () => {
    for (const arm of ["faulty", "right"]) {
      expect(the(all, arm)).toMatchObject({ outerTimeout: true, finalized: false, reward: 1, seconds: 900 });
      expect(the(all, arm)).toMatchObject({ committedAt: [460.2], serves: true, left: 1 });
    }
    expect(of("faulty").events).toEqual(of("right").events);
  });

  test("goes on for 414 s inside: a command of 103.8 s and two billed requests, which its usage does not have", () => {
    const { afterCut, events } = of("faulty");
    expect(afterCut!.at(-1)).toMatchObject({ event: "submitted", at: 1_314_000 });
    const row = rowOf("faulty");
    expect(row).toMatchObject({ tool_seconds_after_cut: 103.8, requests_after_cut: 2, provider_calls: 6 });
    const billed = [...events, ...afterCut!].flatMap((event) => (event.event === "model_asked" ? [event.cost] : []));
    expect(billed).toHaveLength(8);
    const missing = billed.reduce((sum, cost) => sum + cost, 0) / 1e6 - row.cost_usd!;
    expect(missing).toBeCloseTo(row.cost_after_cut_usd, 6);
    expect(missing).toBeGreaterThan(0.05);
  });

  test("is over where the cut reaches the agent: usage is what the journal says", () => {
    const { afterCut, events } = of("right");
    expect(afterCut).toBeUndefined();
    const row = rowOf("right");
    expect(row).toMatchObject({ tool_seconds_after_cut: 0, requests_after_cut: 0, cost_after_cut_usd: 0 });
    const billed = events.flatMap((event) => (event.event === "model_asked" ? [event.cost] : []));
    expect(row.cost_usd).toBeCloseTo(billed.reduce((sum, cost) => sum + cost, 0) / 1e6, 6);
  });

  test("the slot stays taken for as long under both", () => {
    expect(world.endedAt).toBe(1_500_000);
    expect(world.occupancy[0]).toEqual(world.occupancy[1]);
  });
});
