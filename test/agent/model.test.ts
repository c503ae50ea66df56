import { describe, expect, test } from "vitest";
import type { Mark } from "../../src/agent/effects.ts";
import {
  afterWait,
  firstSight,
  inWords,
  type Lengths,
  nextMove,
  type Profile,
  type Seen,
  type StopRule,
  speaksOfReserve,
} from "../../src/agent/model.ts";
import type { Carried, ExecResult, WaitResult } from "../../src/agent/shell.ts";
import { inSeconds, seconds } from "../../src/policy/time.ts";
import { keyed } from "../../src/random.ts";
import { patient } from "../aRun.ts";

const key = keyed.within(keyed.seeded(1), "it");
const fresh: Seen = { waits: 0, quietWaits: 0, failureSeen: false, elapsed: seconds(10) };
const rule = (conditions: Partial<StopRule>): StopRule => ({
  quietWaits: null,
  running: null,
  failureSeen: null,
  ...conditions,
});
const move = (profile: Partial<Profile>, seen: Partial<Seen> = {}, knowsReserve = false) =>
  nextMove({ ...patient, ...profile }, { ...fresh, ...seen }, knowsReserve, keyed, key);
const waits = (length: number) => ({ move: "wait", length: seconds(length) });

describe("a wait that a model asks for", () => {
  const ladder = {
    waits: [
      { from: 1, length: seconds(30) },
      { from: 3, length: seconds(120) },
      { from: 4, length: seconds(240) },
    ],
  };

  test.each([
    [0, 30],
    [1, 30],
    [2, 120],
    [3, 240],
    [90, 240],
  ])("after %d waits is the rung of its ladder: %d s", (before, length) => {
    expect(move(ladder, { waits: before })).toEqual(waits(length));
  });

  test("among several lengths has the shares that were stated", () => {
    const lengths: Lengths = [
      { length: seconds(3_600), p: 0.6 },
      { length: seconds(240), p: 0.3 },
      { length: seconds(30), p: 0.1 },
    ];
    const counts = new Map<number, number>();
    for (let trial = 0; trial < 20_000; trial += 1) {
      const drawn = nextMove(
        { ...patient, waits: [{ from: 1, length: lengths }] },
        fresh,
        false,
        keyed,
        keyed.within(key, trial),
      );
      if (drawn.move !== "wait") throw new Error("it waits");
      counts.set(inSeconds(drawn.length), (counts.get(inSeconds(drawn.length)) ?? 0) + 1);
    }
    // Within four standard deviations of each share.
    for (const { length, p } of lengths) {
      const share = (counts.get(inSeconds(length)) ?? 0) / 20_000;
      expect(Math.abs(share - p)).toBeLessThan(4 * Math.sqrt((p * (1 - p)) / 20_000));
    }
  });

  test("is drawn anew for each wait, and the same again for the same wait", () => {
    const halves = { waits: [{ from: 1, length: [30, 240].map((length) => ({ length: seconds(length), p: 0.5 })) }] };
    const drawn = Array.from({ length: 40 }, (_, before) => move(halves, { waits: before }));
    expect(drawn).toEqual(Array.from({ length: 40 }, (_, before) => move(halves, { waits: before })));
    expect(new Set(drawn.map((one) => JSON.stringify(one))).size).toBe(2);
  });

  test("with a share of nothing is never asked for, and one of all always is", () => {
    const certain = {
      waits: [
        {
          from: 1,
          length: [
            { length: seconds(1), p: 0 },
            { length: seconds(2), p: 1 },
          ],
        },
      ],
    };
    for (let before = 0; before < 200; before += 1) expect(move(certain, { waits: before })).toEqual(waits(2));
  });

  test("is the last of its lengths where rounding leaves a rest", () => {
    const short = {
      waits: [
        {
          from: 1,
          length: [
            { length: seconds(1), p: 0 },
            { length: seconds(2), p: 0 },
          ],
        },
      ],
    };
    expect(move(short)).toEqual(waits(2));
  });
});

describe("a model gives up on a process", () => {
  test.each<[string, StopRule, Partial<Seen>, boolean]>([
    ["after two quiet waits", rule({ quietWaits: 2 }), { quietWaits: 2 }, true],
    ["not after one", rule({ quietWaits: 2 }), { quietWaits: 1 }, false],
    ["once it has run longer than this", rule({ running: seconds(1_200) }), { elapsed: seconds(1_200.001) }, true],
    ["not when it has run exactly so long", rule({ running: seconds(1_200) }), { elapsed: seconds(1_200) }, false],
    ["once a failure was seen", rule({ failureSeen: true }), { failureSeen: true }, true],
    ["not before", rule({ failureSeen: true }), {}, false],
    [
      "when all conditions of a rule hold",
      rule({ quietWaits: 1, running: seconds(60) }),
      { quietWaits: 1, elapsed: seconds(61) },
      true,
    ],
    ["not when one of them does not", rule({ quietWaits: 1, running: seconds(60) }), { quietWaits: 1 }, false],
    ["at once by a rule that asks for nothing", rule({}), {}, true],
  ])("%s", (_, stops, seen, gives) => {
    expect(move({ stopsAProcess: [stops] }, seen)).toEqual(gives ? { move: "stop" } : waits(3_600));
  });

  test("by any of its rules, and never by none", () => {
    const rules = [rule({ quietWaits: 4 }), rule({ failureSeen: true })];
    expect(move({ stopsAProcess: rules }, { failureSeen: true })).toEqual({ move: "stop" });
    expect(move({ stopsAProcess: [] }, { quietWaits: 1_000, failureSeen: true })).toEqual(waits(3_600));
  });
});

describe("a model that knows of the reserve", () => {
  test.each([
    ["stop_and_go_on", { move: "stop" }],
    ["finish", { move: "stop_and_finish" }],
    ["ignore", waits(3_600)],
  ] as const)("and is to %s does so", (inTheReserve, expected) => {
    expect(move({ inTheReserve }, {}, true)).toEqual(expected);
    expect(move({ inTheReserve }, {}, false)).toEqual(waits(3_600));
  });

  test("finishes rather than only stopping, and still stops where it ignores it", () => {
    const tired = { stopsAProcess: [rule({})] };
    expect(move({ ...tired, inTheReserve: "finish" }, {}, true)).toEqual({ move: "stop_and_finish" });
    expect(move({ ...tired, inTheReserve: "ignore" }, {}, true)).toEqual({ move: "stop" });
  });

  test("knows it by a reason or by guidance, and by nothing else", () => {
    expect(speaksOfReserve({})).toBe(false);
    expect(speaksOfReserve({ clamp_reasons: ["process_wait_slice", "client_call_limit"] })).toBe(false);
    expect(speaksOfReserve({ clamp_reasons: ["process_wait_slice", "remaining_run_budget"] })).toBe(true);
    expect(speaksOfReserve({ clamp_reasons: [], guidance: {} })).toBe(true);
  });
});

describe("what a model has seen of a process", () => {
  const carried = <Result>(elapsed_seconds: number, marks: readonly Mark[], freshOutput: boolean) =>
    ({ result: { elapsed_seconds }, marks, freshOutput }) as unknown as Carried<Result>;

  test("begins with the result it came back with", () => {
    expect(firstSight(carried<ExecResult>(10, ["progress"], true))).toEqual(fresh);
    expect(firstSight(carried<ExecResult>(30.5, ["failure", "progress"], true))).toEqual({
      ...fresh,
      failureSeen: true,
      elapsed: seconds(30.5),
    });
  });

  test("takes in each wait: its age, whether it was quiet, and a failure for good", () => {
    const seen = { ...fresh };
    afterWait(seen, carried<WaitResult>(240, [], false));
    expect(seen).toEqual({ waits: 1, quietWaits: 1, failureSeen: false, elapsed: seconds(240) });
    afterWait(seen, carried<WaitResult>(480, ["failure"], true));
    expect(seen).toEqual({ waits: 2, quietWaits: 1, failureSeen: true, elapsed: seconds(480) });
    afterWait(seen, carried<WaitResult>(720, ["ready"], true));
    expect(seen).toEqual({ waits: 3, quietWaits: 1, failureSeen: true, elapsed: seconds(720) });
  });
});

test("a choice of lengths reads as one", () => {
  expect(inWords(seconds(120))).toBe("120 s");
  expect(
    inWords([
      { length: seconds(3_600), p: 0.6 },
      { length: seconds(240), p: 0.4 },
    ]),
  ).toBe("3600 s (p 0.6) or 240 s (p 0.4)");
});
