/** What a paid run would show, held against paid runs played through by brute force; and what it is handed. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { importedFrom } from "../../src/cli/imported.ts";
import { neededFor, powerOf, type Question } from "../../src/cli/planned.ts";
import { conductWorld, type FinishedTrial } from "../../src/experiment/conduct.ts";
import { scheduled } from "../../src/experiment/schedule.ts";
import { keyed, pick } from "../../src/random.ts";
import { measureCalled } from "../../src/report/measures.ts";
import { loadPanel, loadPolicy } from "../../src/scenario/load.ts";
import { mcnemar } from "../../src/stats/mcnemar.ts";
import { meanDifference } from "../../src/stats/paired.ts";
import { yieldpoint } from "../program.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "yieldpoint-plan-test-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const planning = { alpha: 0.05, key: keyed.seeded(3) };
const hypothesis = { measure: "outer_timeout", arm: "a", against: "b", expect: "lower" } as const;

function question(distances: readonly number[], yesOrNo: boolean): Question {
  const count = (value: number) => distances.filter((each) => each === value).length / distances.length;
  return {
    hypothesis,
    measure: measureCalled(yesOrNo ? "outer_timeout" : "duration_seconds")!,
    distances,
    discordance: yesOrNo ? { onlyTreatment: count(1), onlyControl: count(-1) } : null,
    effect: distances.reduce((sum, each) => sum + each, 0) / distances.length,
    share: 1,
    kinds: [],
  };
}

/** How many of 1,000 runs of n pairs, drawn from these, are shown by this test. */
function bruteForce(distances: readonly number[], n: number, shows: (run: readonly number[]) => boolean): number {
  const key = keyed.within(keyed.seeded(8), "brute force");
  let shown = 0;
  for (let run = 0; run < 1_000; run += 1) {
    if (shows(Array.from({ length: n }, (_, at) => distances[pick(keyed, key, distances.length, run * n + at)]!)))
      shown += 1;
  }
  return shown / 1_000;
}

/** Three standard errors of a share among 1,000, and as much for what is played through itself. */
const leeway = (share: number) => 3 * Math.sqrt((2 * Math.max(share * (1 - share), 0.01)) / 1_000);

describe("the power of a plan", () => {
  /** 6 % of pairs are saved, 1 % lost. */
  const outcomes = Array.from({ length: 400 }, (_, at) => (at < 24 ? 1 : at < 28 ? -1 : 0));
  /** Heavy-tailed: most pairs differ a little, a few by an hour. */
  const lengths = Array.from({ length: 300 }, (_, at) => (at % 25 === 0 ? 3_400 : ((at * 37) % 41) - 20));

  test.each([60, 113, 226])("for outcomes of %d pairs is that of runs judged by McNemar's exact test", (n) => {
    const found = powerOf(question(outcomes, true), n, planning);
    const brute = bruteForce(outcomes, n, (run) => {
      const [saved, lost] = [run.filter((each) => each === 1).length, run.filter((each) => each === -1).length];
      return saved > lost && mcnemar(saved, lost) <= 0.05;
    });
    expect(Math.abs(found - brute)).toBeLessThan(leeway(brute));
  });

  test.each([30, 113, 226])("for lengths of %d pairs is that of runs judged by the t test", (n) => {
    const found = powerOf(question(lengths, false), n, planning);
    const brute = bruteForce(lengths, n, (run) => meanDifference(run.map((sum) => ({ sum, n: 1 }))).low > 0);
    expect(Math.abs(found - brute)).toBeLessThan(leeway(brute));
  });

  test("is reached by the number of trials that it names, and not by a tenth fewer", () => {
    for (const asked of [question(outcomes, true), question(lengths, false)]) {
      const needed = neededFor(asked, 0.8, 2_000, planning)!;
      expect(powerOf(asked, needed, planning)).toBeGreaterThanOrEqual(0.8);
      expect(powerOf(asked, Math.floor(needed * 0.9), planning)).toBeLessThan(0.82);
      expect(neededFor(asked, 0.8, Math.floor(needed / 2), planning)).toBeNull();
    }
  });

  test("is none where the simulation says the contrary, at any number", () => {
    const contrary = question(
      outcomes.map((each) => -each),
      true,
    );
    expect(powerOf(contrary, 2_000, planning)).toBe(0);
    expect(neededFor(contrary, 0.8, 2_000, planning)).toBeNull();
  });

  test("does not take a run in which nothing happens for one that shows something", () => {
    const rare = question(
      Array.from({ length: 1_000 }, (_, at) => (at < 5 ? 1 : 0)),
      false,
    );
    expect(powerOf(rare, 20, planning)).toBeLessThan(0.15);
  });
});

describe("small panels, simulated anew", () => {
  /** Paid runs of 113 tasks, none of which the plan has seen: what each shows of outer timeouts and of lengths. */
  function anew(level: number, runs: number) {
    const panel = loadPanel("panels/deepswe-headline.yaml", { seed: 77 });
    const tasks = scheduled(panel, keyed);
    const shown = { outer_timeout: 0, duration_seconds: 0 };
    for (let replicate = 1; replicate <= runs; replicate += 1) {
      const trials = { treatment: new Map<number, FinishedTrial>(), budgeted: new Map<number, FinishedTrial>() };
      conductWorld(panel, tasks, replicate, (trial) => {
        const { arm } = trial.arm;
        if (arm === "treatment" || arm === "budgeted") trials[arm].set(trial.pairKey, trial);
      });
      const pairs = [...trials.treatment].map(([key, against]) => ({ arm: trials.budgeted.get(key)!, against }));
      expect(pairs).toHaveLength(113);
      const isCut = ({ events }: FinishedTrial) => events.some(({ event }) => event === "cut_off");
      const saved = pairs.filter(({ arm, against }) => !isCut(arm) && isCut(against)).length;
      const lost = pairs.filter(({ arm, against }) => isCut(arm) && !isCut(against)).length;
      if (saved > lost && mcnemar(saved, lost) <= level) shown.outer_timeout += 1;
      const length = ({ startedAt, endedAt }: FinishedTrial) => (endedAt - startedAt) / 1_000;
      const shorter = pairs.map(({ arm, against }) => ({ sum: length(against) - length(arm), n: 1 }));
      if (meanDifference(shorter, 1 - level).low > 0) shown.duration_seconds += 1;
    }
    return shown;
  }

  test("show what the plan says they show, within what 100 of them can tell", { timeout: 120_000 }, () => {
    const { level, hypotheses } = JSON.parse(
      yieldpoint(["plan", "panels/deepswe-headline.yaml", "--replicates", "20", "--n", "113", "--json"]).stdout,
    ) as {
      level: number;
      hypotheses: { measure: string; arm: string; by_trials: { power: number }[] }[];
    };
    const runs = 100;
    const shown = anew(level, runs);
    for (const measure of ["outer_timeout", "duration_seconds"] as const) {
      const planned = hypotheses.find((each) => each.measure === measure && each.arm === "budgeted")!.by_trials[0]!
        .power;
      // Three standard errors of a share among 100. The plan's own doubt, of 2,260 pairs, is about as large and not allowed for.
      expect(Math.abs(planned - shown[measure] / runs), measure).toBeLessThan(
        3 * Math.sqrt(Math.max(planned * (1 - planned), 0.01) / runs),
      );
    }
  });
});

describe("the program", () => {
  interface Plan {
    readonly level: number;
    readonly says: string;
    readonly hypotheses: readonly {
      readonly measure: string;
      readonly planned: boolean;
      readonly effect?: number;
      readonly why?: string;
      readonly trials_needed?: number | null;
      readonly by_trials?: readonly {
        readonly trials: number;
        readonly power: number;
        readonly minimal_detectable: number | null;
      }[];
      readonly kinds?: readonly { readonly kind: string; readonly share: number; readonly carries: number }[];
    }[];
  }
  const planOf = (...words: readonly string[]) => {
    const ended = yieldpoint(["plan", ...words, "--json"]);
    expect(ended.code, ended.stderr).toBe(0);
    return JSON.parse(ended.stdout) as Plan;
  };

  test("says how many trials each hypothesis needs, what carries the difference, and the level it is judged at", () => {
    const { level, hypotheses } = planOf("panels/long-tail.yaml", "--replicates", "12");
    expect(level).toBeCloseTo(0.05 / 4, 12);
    const [timeouts, reward, waits, duration, zero] = hypotheses;
    expect(timeouts!.trials_needed).toBeGreaterThan(150);
    expect(timeouts!.trials_needed).toBeLessThan(500);
    const { by_trials: rows } = timeouts!;
    for (const [at, { power, minimal_detectable: least }] of rows!.entries()) {
      expect(power).toBeGreaterThanOrEqual((rows![at - 1]?.power ?? 0) - 1e-12);
      expect(least!).toBeLessThanOrEqual(rows![at - 1]?.minimal_detectable ?? 1);
    }
    expect(timeouts!.kinds!.find(({ kind }) => kind === "hanging")!.carries).toBeGreaterThan(0.8);
    expect(reward!.planned && waits!.planned && duration!.planned).toBe(true);
    expect(zero).toMatchObject({ planned: false, why: expect.stringContaining("a zero is counted") });
  });

  test("says plainly that long-tail safety cannot be shown by as many trials as can be paid for", () => {
    const { says } = planOf("panels/long-tail.yaml", "--replicates", "8", "--at-most", "60");
    expect(says).toContain(
      "cannot show long-tail safety at any number that can be paid for: outer timeouts (budgeted against treatment) needs more than 60 trials of each arm",
    );
  });

  test("plans for a given change from what is declared: equal arms are within a margin, and a change of 80 % does not pass 80 %", () => {
    const alike = planOf("panels/long-tail.yaml", "--replicates", "8", "--effect", "0");
    const [timeouts, , , duration] = alike.hypotheses;
    expect(timeouts!.trials_needed).toBeNull();
    expect(duration!.trials_needed).toBeGreaterThan(0);
    expect(alike.says).toContain("With a change of 0 % outer timeouts (budgeted against treatment) does not lie");
    const waits = (effect: string) =>
      planOf("panels/long-tail.yaml", "--replicates", "8", "--effect", effect).hypotheses[2]!.trials_needed;
    expect(waits("0.8")).toBeNull();
    expect(waits("0.95")!).toBeLessThan(waits("0.9")!);
  });

  test("shows no effect so small that its own power is less than was asked", () => {
    const { hypotheses } = planOf("panels/long-tail.yaml", "--replicates", "8", "--power", "0.8");
    for (const { effect, by_trials: rows } of hypotheses)
      for (const { power, minimal_detectable: least } of rows ?? [])
        if (power < 0.78) expect(least ?? Number.POSITIVE_INFINITY).toBeGreaterThan(effect! * 0.999);
  });

  test("says that a task which is tried again counts once, where there are fewer tasks than are needed", () => {
    const { says } = planOf("panels/long-tail.yaml", "--replicates", "8");
    expect(says).toMatch(/the panel has 40: a task that is tried again counts once in the verdict, so bring \d+ tasks/);
    expect(planOf("panels/deepswe-headline.yaml", "--replicates", "2", "--at-most", "100").says).not.toContain(
      "tried again",
    );
  });

  test("hands over each arm as its runtime reads it, and a schedule in which arms take turns", () => {
    const out = join(folder, "paid");
    const { code, stderr, stdout } = yieldpoint([
      "plan",
      "panels/long-tail.yaml",
      "--replicates",
      "8",
      "--export",
      out,
    ]);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/ {2}\d+ trials of an arm for a power of 80 %/);
    const panel = loadPanel("panels/long-tail.yaml");
    for (const [at, arm] of panel.arms.entries()) {
      expect(loadPolicy(join(out, `arm-${at + 1}.yaml`)).written).toEqual(arm.written);
    }
    const told = JSON.parse(readFileSync(join(out, "plan.json"), "utf8")) as {
      trials_per_arm: number;
      usd: number;
      machine_hours: number;
    };
    const [head, ...rows] = readFileSync(join(out, "schedule.csv"), "utf8").trim().split("\n");
    expect(head).toBe("order,arm,scenario,attempt");
    expect(rows).toHaveLength(told.trials_per_arm * 3);
    expect(told.usd).toBeGreaterThan(100);
    expect(told.machine_hours).toBeGreaterThan(100);
    const cells = rows.map((row) => row.split(","));
    expect(new Set(cells.map((row) => row.slice(1).join())).size).toBe(rows.length);
    for (let at = 0; at + 3 <= cells.length; at += 3) {
      const three = cells.slice(at, at + 3);
      expect(new Set(three.map(([, arm]) => arm)).size).toBe(3);
      expect(new Set(three.map(([, , task, attempt]) => `${task} ${attempt}`)).size).toBe(1);
    }
    const firsts = cells.filter((_, at) => at % 3 === 0).map(([, arm]) => arm);
    for (const { arm } of panel.arms)
      expect(firsts.filter((each) => each === arm).length / firsts.length).toBeCloseTo(1 / 3, 1);
    // What the schedule names comes back through import.
    const rowsBack = cells.map(([, arm, task, attempt]) => [arm!, task!, attempt!, "false"]);
    expect(
      importedFrom({ columns: ["arm", "scenario", "attempt", "outer_timeout"], rows: rowsBack }, "t", null),
    ).toMatchObject({ imported: { paired: true } });
    expect(readdirSync(out).some((name) => name.endsWith(".part"))).toBe(false);
  });

  test("refuses what cannot be, all at once, and writes nothing", () => {
    const taken = join(folder, "taken");
    mkdirSync(taken);
    writeFileSync(join(taken, "mine.txt"), "mine");
    const { code, stderr } = yieldpoint([
      "plan",
      "panels/public-cases.yaml",
      "--n",
      "1,x,20000",
      "--at-most",
      "20000",
      "--power",
      "80",
      "--effect",
      "-1",
      "--export",
      taken,
    ]);
    expect(code).toBe(2);
    const lines = stderr.trim().split("\n");
    expect(lines).toHaveLength(6);
    for (const [at, said] of [
      "--n is 1,x,20000: expected whole numbers from 2 to 5000",
      "--power is 80",
      "--effect is -1",
      "--at-most is 20000: expected a whole number from 2 to 5000",
      "--export is",
      "is a gallery of cases",
    ].entries())
      expect(lines[at]).toContain(said);
    expect(readdirSync(taken)).toEqual(["mine.txt"]);
    expect(existsSync(join(folder, "out"))).toBe(false);
  });
});
