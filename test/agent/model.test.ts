import { describe, expect, test } from "vitest";
import type { Mark } from "../../src/agent/effects.ts";
import {
  afterLook,
  afterWait,
  type Choice,
  firstSight,
  inTheReserve,
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
const fresh: Seen = {
  looks: 0,
  waits: 0,
  quietWaits: 0,
  failureSeen: false,
  readySeen: false,
  cpu: null,
  cpuIdle: null,
  elapsed: seconds(10),
  firstControl: seconds(10),
  remaining: null,
  hint: null,
};
/** A process that serves nothing, in a plan that has nothing else to do; the model knows of no reserve. */
const bound: Choice = { reserve: null, canWork: false, canProbe: false, isWoken: false };
const rule = (conditions: Partial<StopRule>): StopRule => ({
  quietWaits: null,
  running: null,
  failureSeen: null,
  ...conditions,
});
const move = (profile: Partial<Profile>, seen: Partial<Seen> = {}, choice: Partial<Choice> = {}, luck = key) =>
  nextMove({ ...patient, ...profile }, { ...fresh, ...seen }, { ...bound, ...choice }, keyed, luck);
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
      const drawn = move({ waits: [{ from: 1, length: lengths }] }, {}, {}, keyed.within(key, trial));
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

describe("a wait whose length", () => {
  const asks = (length: Lengths, more: Partial<Profile> = {}) => ({ waits: [{ from: 1, length }], ...more });
  const lengths = (profile: Partial<Profile>, seen: readonly Partial<Seen>[]) =>
    seen.map((one) => {
      const next = move(profile, one);
      return next.move === "wait" ? inSeconds(next.length) : next.move;
    });
  const waited = (...counts: number[]) => counts.map((waits) => ({ waits }));

  test("is a rung of a ladder goes up by one with each, and stays on the last", () => {
    const ladder = asks({ ladder: [30, 60, 120].map(seconds) });
    expect(lengths(ladder, waited(0, 1, 2, 3, 90))).toEqual([30, 60, 120, 120, 120]);
  });

  test("is the model's own cadence is that", () => {
    expect(lengths(asks({ cadence: true }, { cadence: seconds(17) }), waited(0, 5))).toEqual([17, 17]);
  });

  test("is a share of what remains is so much of what it was last told, or something else where it was told nothing", () => {
    const share = asks({ shareOfRemaining: 0.1, otherwise: seconds(60) });
    expect(lengths(share, [{ remaining: seconds(5_390) }, { remaining: seconds(0.016) }, { remaining: null }])).toEqual(
      [539, 0.002, 60],
    );
  });

  test("is drawn is drawn for each wait by itself, and the same again for the same wait", () => {
    const drawn = asks({ drawn: { distribution: "uniform", from: 10, to: 600 } });
    const twenty = lengths(drawn, waited(...Array(20).keys()));
    expect(new Set(twenty).size).toBe(20);
    for (const length of twenty) expect(length).toBeGreaterThanOrEqual(10);
    expect(lengths(drawn, waited(...Array(20).keys()))).toEqual(twenty);
  });

  test("hangs on how late control came first, by the last rule that holds", () => {
    const late = {
      waits: [
        { from: 1, length: seconds(30) },
        { from: 1, late: seconds(60), length: seconds(600) },
        { from: 3, length: seconds(240) },
      ],
    };
    const seen = (firstControl: number, waits: number) => ({ firstControl: seconds(firstControl), waits });
    expect(lengths(late, [seen(59.999, 0), seen(60, 0), seen(240, 1), seen(240, 2)])).toEqual([30, 600, 600, 240]);
  });
});

describe("a model that has control of a live process", () => {
  const between = (...choices: Profile["between"]) => ({ between: choices });

  test("waits, if it knows of nothing else to do", () => {
    expect(move({})).toEqual(waits(3_600));
    expect(move(between({ does: "wait", p: 1 }))).toEqual(waits(3_600));
  });

  test.each(["status", "read_output"] as const)("may look at it instead: %s", (does) => {
    expect(move(between({ does, p: 1 }))).toEqual({ move: does });
  });

  test("may probe what serves, and work on what does not need it; else it waits", () => {
    const probe = between({ does: "probe", p: 1 });
    expect([move(probe, {}, { canProbe: true }), move(probe)]).toEqual([{ move: "probe" }, waits(3_600)]);
    const work = between({ does: "work", p: 1 });
    expect([move(work, {}, { canWork: true }), move(work)]).toEqual([{ move: "go_on" }, waits(3_600)]);
  });

  test("does each with its share, drawn anew at each look", () => {
    const some = between({ does: "status", p: 0.25 }, { does: "read_output", p: 0.25 }, { does: "wait", p: 0.5 });
    const done = Array.from({ length: 4_000 }, (_, looks) => move(some, { looks }).move);
    for (const [does, share] of [
      ["status", 0.25],
      ["read_output", 0.25],
      ["wait", 0.5],
    ] as const) {
      const found = done.filter((one) => one === does).length / 4_000;
      expect(Math.abs(found - share)).toBeLessThan(4 * Math.sqrt((share * (1 - share)) / 4_000));
    }
  });

  test("counts how often it has had control", () => {
    const seen = { ...fresh };
    for (let look = 1; look <= 3; look += 1) {
      nextMove(patient, seen, bound, keyed, key);
      expect(seen.looks).toBe(look);
    }
  });

  test("goes on once it is ready, before it would stop it or do anything else; or keeps waiting", () => {
    const tired = { stopsAProcess: [rule({})], ...between({ does: "status", p: 1 }) };
    expect(move(tired, { readySeen: true })).toEqual({ move: "go_on" });
    expect(move({ onReady: "keep_waiting" }, { readySeen: true })).toEqual(waits(3_600));
    expect(move({ ...tired, onReady: "keep_waiting" }, { readySeen: true })).toEqual({ move: "stop" });
  });

  test("stops what is ready all the same in the reserve", () => {
    expect(move({}, { readySeen: true }, { reserve: "stop_and_go_on" })).toEqual({ move: "stop" });
  });
});

describe("a model gives up on a process", () => {
  test("with some probability at each look, where a rule says so, once all else of it holds", () => {
    const stops = { stopsAProcess: [rule({ quietWaits: 2, probability: 0.2 })] };
    const looks = (seen: Partial<Seen>) =>
      Array.from({ length: 4_000 }, (_, looks) => move(stops, { ...seen, looks }).move === "stop");
    const share = looks({ quietWaits: 2 }).filter((stopped) => stopped).length / 4_000;
    expect(Math.abs(share - 0.2)).toBeLessThan(4 * Math.sqrt((0.2 * 0.8) / 4_000));
    expect(looks({ quietWaits: 1 })).not.toContain(true);
  });

  test("by rules whose luck is their own: two of them stop it more often than one", () => {
    const half = rule({ probability: 0.5 });
    const share = (...rules: StopRule[]) => {
      const looks = Array.from({ length: 4_000 }, (_, looks) => move({ stopsAProcess: rules }, { looks }).move);
      return looks.filter((one) => one === "stop").length / 4_000;
    };
    expect(Math.abs(share(half, half) - 0.75)).toBeLessThan(4 * Math.sqrt((0.75 * 0.25) / 4_000));
  });

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
  ] as const)("and is to %s does so", (reserve, expected) => {
    expect(move({}, {}, { reserve })).toEqual(expected);
    expect(move({}, {}, { reserve: null })).toEqual(waits(3_600));
  });

  test("finishes rather than only stopping, and still stops where it ignores it", () => {
    const tired = { stopsAProcess: [rule({})] };
    expect(move(tired, {}, { reserve: "finish" })).toEqual({ move: "stop_and_finish" });
    expect(move(tired, {}, { reserve: "ignore" })).toEqual({ move: "stop" });
  });

  test("does what it always does there, or one of several things for all of the trial", () => {
    expect(inTheReserve({ ...patient, inTheReserve: "ignore" }, keyed, key)).toBe("ignore");
    const mixed: Profile = {
      ...patient,
      inTheReserve: [
        { does: "finish", p: 0.3 },
        { does: "ignore", p: 0.7 },
      ],
    };
    const drawn = Array.from({ length: 4_000 }, (_, trial) => inTheReserve(mixed, keyed, keyed.within(key, trial)));
    const share = drawn.filter((one) => one === "finish").length / 4_000;
    expect(Math.abs(share - 0.3)).toBeLessThan(4 * Math.sqrt((0.3 * 0.7) / 4_000));
    expect(inTheReserve(mixed, keyed, key)).toBe(inTheReserve(mixed, keyed, key));
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
    expect(firstSight(carried<ExecResult>(10, ["progress"], true), seconds(10))).toEqual(fresh);
    expect(firstSight(carried<ExecResult>(30.5, ["failure", "progress"], true), seconds(31))).toEqual({
      ...fresh,
      failureSeen: true,
      elapsed: seconds(30.5),
      firstControl: seconds(31),
    });
  });

  test("takes in each wait: its age, whether it was quiet, and a failure for good", () => {
    const seen = { ...fresh };
    afterWait(seen, carried<WaitResult>(240, [], false));
    expect(seen).toEqual({ ...fresh, waits: 1, quietWaits: 1, elapsed: seconds(240) });
    afterWait(seen, carried<WaitResult>(480, ["failure"], true));
    expect(seen).toEqual({ ...fresh, waits: 2, quietWaits: 1, failureSeen: true, elapsed: seconds(480) });
    afterWait(seen, carried<WaitResult>(720, ["ready"], true));
    expect(seen).toEqual({
      ...fresh,
      waits: 3,
      quietWaits: 1,
      failureSeen: true,
      readySeen: true,
      elapsed: seconds(720),
    });
  });
});

describe("what a model has seen of the budget", () => {
  const said = (remaining_run_seconds?: number) =>
    ({
      result: { elapsed_seconds: 10, ...(remaining_run_seconds === undefined ? null : { remaining_run_seconds }) },
      marks: [],
      freshOutput: false,
    }) as unknown as Carried<ExecResult> & Carried<WaitResult>;

  test("is what the last result that spoke of it said", () => {
    expect(firstSight(said(), seconds(10)).remaining).toBeNull();
    const seen = firstSight(said(500), seconds(10));
    expect(seen.remaining).toBe(seconds(500));
    afterWait(seen, said());
    expect(seen.remaining).toBe(seconds(500));
    afterLook(seen, said(300));
    expect(seen).toMatchObject({ remaining: seconds(300), waits: 1 });
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
  expect(inWords({ ladder: [seconds(30), seconds(60)] })).toBe("30, 60 s in turn");
  expect(inWords({ cadence: true })).toBe("its own cadence");
  expect(inWords({ drawn: { distribution: "lognormal", mu: 1, sigma: 1 } })).toBe("drawn from a lognormal");
  expect(inWords({ shareOfRemaining: 0.07, otherwise: seconds(60) })).toBe("7 % of what remains, or 60 s");
  expect(inWords({ shareOfRemaining: 0.1, otherwise: seconds(60) })).toBe("10 % of what remains, or 60 s");
});
