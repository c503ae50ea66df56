/** What a cut at the outer limit reaches, and what goes on where that is only the client. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CutReach } from "../../src/agent/effects.ts";
import { seconds } from "../../src/policy/time.ts";
import { Host } from "../../src/world/host.ts";
import { type EndedTrial, simulate, throughout } from "../../src/world/simulated.ts";
import { candidate, command, hangs, lasts, only, providerFor, type RunSpec, runs, submits, thinks } from "../aRun.ts";
import { anyTrial } from "../arbitraries.ts";
import { rowsOf } from "../rowsOf.ts";

/** One trial after the other in one slot. */
function inTurn(specs: readonly RunSpec[], cutReaches: CutReach, { grace = 100, cores = 0 } = {}) {
  const trials: EndedTrial[] = [];
  const entrants = specs.map((spec, place) => ({
    ...candidate(spec),
    cutReaches,
    ended: (trial: EndedTrial) => {
      trials[place] = trial;
    },
  }));
  const host = cores === 0 ? null : new Host({ speed: 1, cores });
  const provider = providerFor(candidate(specs[0]!));
  const slots = cores === 0 ? 1 : specs.length;
  simulate({ lanes: [{ slots, entrants, provider, host }], first: 0, cutGrace: seconds(grace) });
  return trials;
}

const working: RunSpec = { plan: [thinks(5), runs(command(lasts(20))), thinks(5), submits], outerLimit: 10 };
const hanging: RunSpec = {
  plan: [runs(command(hangs())), submits],
  outerLimit: 10,
  settings: { foreground_auto_await_max_seconds: 3_600 },
};

describe("a cut that reaches only the client", () => {
  test("leaves an agent at work until it is done, and nothing of that is the trial's", () => {
    const [trial] = inTurn([working], "client");
    expect(trial).toMatchObject({ startedAt: 0, endedAt: 10_000 });
    expect(trial!.events.map(({ event }) => event).slice(-2)).toEqual(["cut_off", "left_behind"]);
    expect(trial!.events.at(-1)).toMatchObject({ end: null });
    expect(trial!.afterCut!.at(-1)).toMatchObject({ event: "submitted" });
    const { trial: row } = rowsOf(trial!);
    // The command ends at 25 s, and is held on from the limit.
    expect(row).toMatchObject({ outcome: "outer_timeout", duration_seconds: 10, tool_seconds_after_cut: 15 });
    expect(throughout(trial!)).toHaveLength(trial!.events.length + trial!.afterCut!.length);
  });

  test("reaches it in the end, as its slot is free again, and no later", () => {
    const [first, second] = inTurn([hanging, working], "client", { grace: 30 });
    expect(first!.afterCut!.at(-1)).toEqual({ event: "cut_off", at: 40_000 });
    expect(rowsOf(first!).trial).toMatchObject({ duration_seconds: 10, tool_seconds_after_cut: 30 });
    expect(second).toMatchObject({ startedAt: 40_000, endedAt: 50_000 });
  });

  test("is one that reaches the agent at once where there is no grace", () => {
    const [trial] = inTurn([hanging], "client", { grace: 0 });
    expect(trial!.afterCut).toEqual([{ event: "cut_off", at: 10_000 }]);
    expect(rowsOf(trial!).trial).toMatchObject({ tool_seconds_after_cut: 0, requests_after_cut: 0 });
  });

  test("leaves others on its host with less", () => {
    const busy = (length: number, outerLimit = 5_400): RunSpec => ({
      plan: [runs(command(lasts(length, undefined, 1))), submits],
      outerLimit,
      settings: { foreground_auto_await_max_seconds: 3_600 },
    });
    const ends = (reach: CutReach) => inTurn([busy(900, 10), busy(20)], reach, { cores: 1 })[1]!.endedAt;
    // Two share one core for 10 s; then the second has it alone, or goes on sharing it.
    expect(ends("agent")).toBe(25_000);
    expect(ends("client")).toBe(40_000);
  });

  test("changes nothing of a trial that ends in time", () => {
    const inTime: RunSpec = { ...working, outerLimit: 5_400 };
    expect(inTurn([inTime, inTime], "client")).toEqual(inTurn([inTime, inTime], "agent"));
  });

  test("changes nothing up to the limit, whatever goes on", () => {
    const seen = (trial: EndedTrial) => ({
      calls: only(trial.events, "exec_called"),
      returned: only(trial.events, "control_returned"),
      asked: only(trial.events, "model_asked"),
      cut: only(trial.events, "cut_off"),
      left: only(trial.events, "left_behind"),
      at: trial.endedAt,
    });
    let cut = 0;
    fc.assert(
      fc.property(anyTrial, fc.integer({ min: 1, max: 600 }), (spec, outerLimit) => {
        const [agent] = inTurn([{ ...spec, outerLimit }], "agent");
        const [client] = inTurn([{ ...spec, outerLimit }], "client");
        expect(seen(client!)).toEqual(seen(agent!));
        if (client!.afterCut === undefined) return;
        cut += 1;
        expect(client!.afterCut.every(({ at }) => at >= agent!.endedAt && at <= agent!.endedAt + 100_000)).toBe(true);
      }),
      { numRuns: 200 },
    );
    expect(cut).toBeGreaterThan(20);
  });
});

test("requests that are made after the cut are told apart from the trial's own", () => {
  const economy = { price: { input: 3_000_000, output: 15_000_000 }, cache: null };
  const [trial] = inTurn([{ ...working, economy }], "client");
  const { trial: row } = rowsOf(trial!);
  const asked = only(throughout(trial!), "model_asked");
  expect(row.requests_after_cut).toBeGreaterThan(0);
  expect(row.provider_calls + row.requests_after_cut).toBe(asked.length);
  const billed = asked.reduce((sum, { cost }) => sum + cost, 0) / 1e6;
  expect(row.cost_usd! + row.cost_after_cut_usd).toBeCloseTo(billed, 6);
});
