/** Public reports of waiting gone wrong: what an observer saw under the faulty way, and must see under the right one. */
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loadPanel, loadScenario } from "../../src/scenario/load.ts";
import { type Observed, observed, the } from "./observed.ts";

const within = (value: number, of: number, share: number) => {
  expect(value).toBeGreaterThan(of * (1 - share));
  expect(value).toBeLessThan(of * (1 + share));
};

type Facts = Partial<Observed>;

/** Observables that are plain values: panel, scenario (any part of its name that tells it apart), arm, what is seen. */
const FACTS: readonly (readonly [string, string, string, Facts])[] = [
  [
    "c01-hour-inside-ninety-minutes",
    "",
    "faulty",
    { control: [240, 3_852], outerTimeout: true, finalized: false, reward: 0 },
  ],
  [
    "c01-hour-inside-ninety-minutes",
    "",
    "right",
    { control: [240, 492, 744], outerTimeout: false, finalized: true, reward: 1 },
  ],
  // One wait of 3,548 s: control comes with exactly the reserve left, and 900 s of work do not fit into it.
  ["c01-hour-inside-ninety-minutes", "", "clamped", { control: [240, 3_800], outerTimeout: true, finalized: false }],

  ["c02-start-script", "foreground", "faulty", { turns: 1, outerTimeout: true, reward: 0, seconds: 900 }],
  ["c02-start-script", "foreground", "right", { outerTimeout: false, serves: true, reward: 1 }],
  ["c02-start-script", "background", "right", { probes: 4, serves: true, reward: 1, seconds: 90 }],
  ["c02-start-script", "never-ends", "right", { outerTimeout: true, serves: true, reward: 1 }],

  ["c10-no-default-bound", "", "faulty", { control: [], outerTimeout: true, seconds: 14_400 }],
  ["c10-no-default-bound", "", "right", { control: [120, 192], outerTimeout: false, finalized: true, left: 0 }],

  ["c12-lost-end", "", "faulty", { control: [], outerTimeout: true, seconds: 3_600 }],
  // The bound is looked at, whatever was signalled: the end is there, with its code.
  ["c12-lost-end", "", "right", { execs: [{ status: "completed", exitCode: 0, seconds: 30 }], outerTimeout: false }],

  [
    "c15-pipe-held-open",
    "same-group",
    "faulty",
    { execs: [{ status: "timed_out", exitCode: 0, seconds: 120 }], survivors: 0 },
  ],
  [
    "c15-pipe-held-open",
    "own-group",
    "faulty",
    { execs: [{ status: "cut_off", exitCode: null, seconds: null }], outerTimeout: true },
  ],
  [
    "c15-pipe-held-open",
    "redirected",
    "faulty",
    { execs: [{ status: "completed", exitCode: 0, seconds: 0 }], survivors: 1 },
  ],
  [
    "c15-pipe-held-open",
    "same-group",
    "right",
    { execs: [{ status: "completed", exitCode: 0, seconds: 0.25 }], survivors: 1, outputLost: 0 },
  ],
  [
    "c15-pipe-held-open",
    "own-group",
    "right",
    { execs: [{ status: "completed", exitCode: 0, seconds: 0.25 }], survivors: 1, outputLost: 0 },
  ],
  [
    "c15-pipe-held-open",
    "redirected",
    "right",
    { execs: [{ status: "completed", exitCode: 0, seconds: 0 }], survivors: 1, outputLost: 0 },
  ],

  [
    "c18-error-without-its-output",
    "",
    "faulty",
    {
      execs: [
        { status: "timed_out", exitCode: null, seconds: 10 },
        { status: "failed", exitCode: 1, seconds: 0 },
      ],
      survivors: 1,
      outputLost: 31,
    },
  ],
  [
    "c18-error-without-its-output",
    "",
    "right",
    { execs: [{ status: "running", exitCode: null, seconds: 30 }], serves: true, outputLost: 0 },
  ],

  [
    "c22-killed-good-work",
    "",
    "faulty",
    {
      execs: [
        { status: "timed_out", exitCode: null, seconds: 60 },
        { status: "failed", exitCode: 1, seconds: 0 },
      ],
      survivors: 0,
      reward: 0,
    },
  ],
  [
    "c22-killed-good-work",
    "",
    "faulty-and-shallow",
    {
      execs: [
        { status: "timed_out", exitCode: null, seconds: 60 },
        { status: "failed", exitCode: 1, seconds: 0 },
      ],
      survivors: 1,
      reward: 0,
    },
  ],
  ["c22-killed-good-work", "", "right", { control: [60, 210], survivors: 0, reward: 1 }],

  ["c42-timed-out-with-a-grade", "and-graded", "faulty", { outerTimeout: true, finalized: false, reward: 1 }],
  ["c42-timed-out-with-a-grade", "not-graded", "faulty", { outerTimeout: true, finalized: false, reward: 0 }],
  ["c42-timed-out-with-a-grade", "and-graded", "right", { outerTimeout: false, finalized: true, reward: 1 }],
  ["c42-timed-out-with-a-grade", "not-graded", "right", { outerTimeout: false, finalized: true, reward: 1 }],

  ["c45-pause-tax", "with-other-work", "faulty", { misses: 6 }],
  ["c45-pause-tax", "with-other-work", "right", { misses: 0 }],
  ["c45-pause-tax", "with-nothing-else", "faulty", { misses: 6 }],
  ["c45-pause-tax", "with-nothing-else", "right", { misses: 6 }],

  ["spoiled-by-a-later-step", "", "faulty", { outerTimeout: false, finalized: true, reward: 0 }],
  ["spoiled-by-a-later-step", "", "right", { outerTimeout: false, finalized: true, reward: 1 }],
];

const seen = new Map<string, readonly Observed[]>();
const of = (panel: string) => {
  const known = seen.get(panel) ?? observed(panel);
  seen.set(panel, known);
  return known;
};

describe("each observable of a case", () => {
  test.each(FACTS)("%s %s, %s", (panel, scenario, arm, facts) => {
    expect(the(of(panel), arm, scenario)).toMatchObject(facts);
  });
});

test("C01: with slices 3,600 s are left once the command is stopped", () => {
  const { seconds } = the(of("c01-hour-inside-ninety-minutes"), "right");
  expect(5_400 - (seconds - 900)).toBeGreaterThanOrEqual(3_600);
});

test("C02: a service that is handed back is up and probed, and the agent done, within 120 s", () => {
  expect(the(of("c02-start-script"), "right", "foreground").seconds).toBeLessThanOrEqual(120);
});

test("C25: 90 polls of a second, 21.6 million tokens; in blocks of 240 s three or four, under a million; done at the same time", () => {
  const faulty = the(of("c25-polling-every-second"), "faulty");
  within(faulty.waits, 90, 0.05);
  within(faulty.inputTokens, 21_610_789, 0.05);
  const right = the(of("c25-polling-every-second"), "right");
  expect(right.waits).toBeGreaterThanOrEqual(3);
  expect(right.waits).toBeLessThanOrEqual(4);
  expect(right.inputTokens).toBeLessThan(1_300_000);
  expect(Math.abs(faulty.seconds - right.seconds)).toBeLessThan(7);
});

test("C26: up to 30 turns at 30 s each, four at 240", () => {
  for (let replicate = 1; replicate <= 20; replicate += 1) {
    const all = observed("c26-is-it-done-yet", replicate);
    expect(the(all, "faulty").waits).toBeLessThanOrEqual(30);
    expect(the(all, "faulty").waits).toBeGreaterThanOrEqual(20);
    expect(the(all, "right").waits).toBeLessThanOrEqual(4);
  }
});

describe("C30: between half a minute and an hour", () => {
  const at = (slice: number, lifetime: number, wakes: boolean) =>
    the(
      of("c30-too-short-and-too-long"),
      `slice-${slice}.cache_lifetime-${lifetime}.process_wait_wake_on_output-${wakes}`,
    );

  test("the longer a wait, the fewer turns and the longer blind", () => {
    const turns = [30, 300, 900, 3_600].map((slice) => at(slice, 300, false).waits);
    expect(turns).toEqual([...turns].sort((a, b) => b - a));
    expect(new Set(turns).size).toBe(4);
    const blind = [30, 300, 900, 3_600].map((slice) => at(slice, 300, false).longestGap);
    expect(blind).toEqual([30, 300, 900, 1_178]);
  });

  test("a cache of five minutes is hit by waits of 30 s only, one of half an hour by all of these", () => {
    expect(at(30, 300, false).misses).toBe(0);
    for (const slice of [300, 900, 3_600]) expect(at(slice, 300, false).misses).toBeGreaterThan(0);
    for (const slice of [30, 300, 900, 3_600]) expect(at(slice, 1_800, false).misses).toBe(0);
  });

  test("where output wakes whoever waits, nobody is blind for longer than it is silent", () => {
    for (const slice of [900, 3_600]) expect(at(slice, 1_800, true).longestGap).toBeLessThanOrEqual(362);
  });
});

describe("C44: the cheapest wait", () => {
  const SLICES = [60, 240, 290, 310, 600, 1_200];
  const costs = (provider: string) =>
    SLICES.map((slice) => the(of("c44-merged-waits"), `slice-${slice}.provider-${provider}`).cost);

  test("is the longest that the cache outlives: at five minutes under 291 s, and 20 s more make it jump", () => {
    const found = costs("five-minute-prices");
    const least = Math.min(...found);
    expect([240, 290]).toContain(SLICES[found.indexOf(least)]);
    expect(found[SLICES.indexOf(310)]! / found[SLICES.indexOf(290)]!).toBeGreaterThan(2);
  });

  test("is one long one, where the cache lives for an hour", () => {
    const found = costs("one-hour-prices");
    expect(SLICES[found.indexOf(Math.min(...found))]).toBe(1_200);
    expect(found).toEqual([...found].sort((a, b) => b - a));
  });
});

describe("the files of cases", () => {
  const files = readdirSync("scenarios/cases").sort();
  test("each is in a panel, and says where it is from", () => {
    const told = new Set<string>();
    for (const file of readdirSync("panels/cases")) {
      const { source } = loadPanel(`panels/cases/${file}`);
      for (const { scenario } of "scenarios" in source ? source.scenarios : []) told.add(`${scenario}.yaml`);
    }
    expect([...told].sort()).toEqual(files);
    for (const file of files) expect(loadScenario(`scenarios/cases/${file}`).source).toMatch(/case/);
  });
});
