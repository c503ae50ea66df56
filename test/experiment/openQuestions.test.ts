/**
 * The note's six open questions: each panel conducted with its own seed, and told from events alone.
 *
 * An account of its own, beside the rows and the report. The README quotes these figures, word for word.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Kind } from "../../src/agent/effects.ts";
import { conductWorld, type FinishedTrial } from "../../src/experiment/conduct.ts";
import { scheduled } from "../../src/experiment/schedule.ts";
import { keyed } from "../../src/random.ts";
import { changeIntervalOf, changeOf, relative, type Unit } from "../../src/report/numbers.ts";
import { lintFile } from "../../src/scenario/lint.ts";
import { loadPanel } from "../../src/scenario/load.ts";
import { meanDifference, relativeChange, twoWayMeanDifference } from "../../src/stats/paired.ts";
import { signFlip } from "../../src/stats/signFlip.ts";
import { root } from "../program.ts";

const readme = readFileSync(join(root, "README.md"), "utf8");
const section = /<!-- open-questions -->\n([\s\S]*?)<!-- \/open-questions -->/.exec(readme)?.[1] ?? "";

/** What one trial comes to. */
interface Came {
  readonly arm: string;
  readonly scenario: string;
  readonly kind: Kind;
  readonly replicate: number;
  readonly reward: number;
  readonly outerTimeout: number;
  readonly seconds: number;
  readonly polls: number;
  readonly stopped: number;
  /** How long the commands ran that a hard timeout ended, in seconds. */
  readonly timedOutSeconds: number;
  readonly cost: number;
  readonly pauseTax: number;
}

type Told = "reward" | "outerTimeout" | "seconds" | "polls" | "stopped" | "timedOutSeconds" | "cost" | "pauseTax";

const units: Readonly<Record<Told, Unit>> = {
  reward: "share",
  outerTimeout: "share",
  seconds: "s",
  polls: "count",
  stopped: "count",
  timedOutSeconds: "s",
  cost: "USD",
  pauseTax: "USD",
};

function came({ arm, task, replicate, events, grade, startedAt, endedAt }: FinishedTrial): Came {
  const sums = { polls: 0, stopped: 0, timedOutSeconds: 0, cost: 0, pauseTax: 0, outerTimeout: 0 };
  for (const event of events) {
    switch (event.event) {
      case "process_called":
        if (event.action !== "stop" && event.action !== "list") sums.polls += 1;
        break;
      case "control_returned":
        if (event.tool === "stop" && event.status === "terminated") sums.stopped += 1;
        if (event.status === "timed_out") sums.timedOutSeconds += (event.end!.at - event.startedAt!) / 1_000;
        break;
      case "model_asked":
        sums.cost += event.cost / 1e6;
        sums.pauseTax += event.pauseTax / 1e6;
        break;
      case "cut_off":
        sums.outerTimeout = 1;
        break;
    }
  }
  return {
    arm: arm.arm,
    scenario: task.scenario,
    kind: task.kind,
    replicate,
    reward: grade!.reward,
    seconds: (endedAt - startedAt) / 1_000,
    ...sums,
  };
}

class Answer {
  readonly panel: ReturnType<typeof loadPanel>;
  readonly #trials: readonly Came[];

  constructor(file: string) {
    this.panel = loadPanel(join(root, "panels/open-questions", file));
    const trials: Came[] = [];
    const tasks = scheduled(this.panel, keyed);
    for (let replicate = 1; replicate <= this.panel.replicates; replicate += 1) {
      conductWorld(this.panel, tasks, replicate, (trial) => trials.push(came(trial)));
    }
    this.#trials = trials;
  }

  mean(told: Told, arm: string, among: (trial: Came) => boolean = () => true): number {
    const values = this.#trials.filter((trial) => trial.arm === arm && among(trial)).map((trial) => trial[told]);
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  }

  /** One arm against another, as the README says it: `+45 s (95 % +30 to +59; 20 replicates)`. */
  difference(told: Told, arm: string, against: string, kind?: Kind): string {
    const { isPopulation, cells } = this.#cells(told, arm, against, kind);
    const clusters = cells.map((cell) => ({ ...cell, sum: cell.treatmentSum - cell.controlSum }));
    const figure = isPopulation ? meanDifference(clusters) : twoWayMeanDifference(clusters);
    const counted = `${figure.n} ${isPopulation ? "replicates" : "clusters"}`;
    return `${changeOf(figure, units[told])} (95 % ${changeIntervalOf(figure, units[told])}; ${counted})`;
  }

  /** The same as a share of the other arm's value. */
  change(told: Told, arm: string, against: string, kind?: Kind): string {
    const { value, low, high, n } = relativeChange(this.#cells(told, arm, against, kind).cells);
    return `${relative(value)} (95 % ${relative(low)} to ${relative(high)}; ${n} replicates)`;
  }

  /** Of a sign flip over scenarios. */
  p(told: Told, arm: string, against: string, kind?: Kind): number {
    const sums = new Map<string, number>();
    for (const { scenario, treatmentSum, controlSum } of this.#cells(told, arm, against, kind).cells) {
      sums.set(scenario, (sums.get(scenario) ?? 0) + treatmentSum - controlSum);
    }
    return signFlip([...sums.values()], keyed, keyed.seeded(1)).p;
  }

  /** By replicate where the tasks are drawn anew in each; by scenario and replicate where scenarios recur. */
  #cells(told: Told, arm: string, against: string, kind?: Kind) {
    const isPopulation = "population" in this.panel.source;
    const cells = new Map<
      string,
      { scenario: string; replicate: number; treatmentSum: number; controlSum: number; n: number }
    >();
    for (const trial of this.#trials) {
      if ((trial.arm !== arm && trial.arm !== against) || (kind !== undefined && trial.kind !== kind)) continue;
      const scenario = isPopulation ? "" : trial.scenario;
      const at = `${scenario} ${trial.replicate}`;
      const cell = cells.get(at) ?? { scenario, replicate: trial.replicate, treatmentSum: 0, controlSum: 0, n: 0 };
      cells.set(at, cell);
      if (trial.arm === arm) {
        cell.treatmentSum += trial[told];
        cell.n += 1;
      } else cell.controlSum += trial[told];
    }
    return { isPopulation, cells: [...cells.values()] };
  }
}

/** The figures are these, and the README quotes them so. */
function quoted(figures: Readonly<Record<string, string>>, expected: Readonly<Record<string, string>>): void {
  expect(figures).toEqual(expected);
  for (const figure of Object.values(expected)) expect(section).toContain(figure);
}

describe("the note's open questions", () => {
  test("each have a panel, in the note's order, whose files have no fault", () => {
    const folder = join(root, "panels/open-questions");
    const files = readdirSync(folder);
    const panels = files.filter((file) => /^\d/.test(file)).sort();
    expect(panels.map((file) => loadPanel(join(folder, file)).panel)).toEqual([
      "open-question-1-slice",
      "open-question-2-reserve",
      "open-question-3-no-budget",
      "open-question-4-hard-timeout",
      "open-question-5-output",
      "open-question-6-remaining",
    ]);
    for (const place of [folder, join(root, "scenarios/open-questions")]) {
      for (const file of readdirSync(place)) {
        expect(lintFile(join(place, file)).faults, file).toEqual([]);
        const [, schema] = /^# yaml-language-server: \$schema=(.*)$/m.exec(readFileSync(join(place, file), "utf8"))!;
        expect(existsSync(join(place, schema!)), file).toBe(true);
      }
    }
    for (const file of panels) {
      const { replicates, hypotheses, caveats, declaredFactors, origin } = loadPanel(join(folder, file));
      expect(replicates).toBeGreaterThanOrEqual(20);
      expect(hypotheses.length).toBeGreaterThanOrEqual(2);
      expect(Math.min(caveats.length, declaredFactors.length)).toBeGreaterThanOrEqual(1);
      expect(origin).toContain("design note");
    }
  });

  test("are answered in the README by one paragraph each", () => {
    expect(section.match(/^\*\*.+?\*\*/gm)).toHaveLength(6);
  });

  test("1: a slice of the model's cadence costs more than one of 240 s, be the cadence short or long", () => {
    const answer = new Answer("1-slice.yaml");
    const against = (told: Told, habit: string) =>
      answer.difference(told, `slice-model_cadence.habit-${habit}`, `slice-240.habit-${habit}`);
    quoted(
      {
        polls: against("polls", "brisk"),
        cost: against("cost", "brisk"),
        duration: against("seconds", "patient"),
        tax: against("pauseTax", "patient"),
      },
      {
        polls: "+3.30 (95 % +2.41 to +4.20; 20 replicates)",
        cost: "+0.191 USD (95 % +0.136 to +0.247; 20 replicates)",
        duration: "+45 s (95 % +30 to +59; 20 replicates)",
        tax: "+0.162 USD (95 % +0.123 to +0.200; 20 replicates)",
      },
    );
  }, 60_000);

  test("2: a reserve of a tenth leaves short runs the time that a fixed one takes from them", () => {
    const answer = new Answer("2-reserve.yaml");
    quoted(
      {
        tenth: answer.difference("reward", "tenth", "fixed-600", "long_finite"),
        bare: answer.difference("reward", "tenth-without-floor", "fixed-600", "long_finite"),
        lost: answer.difference("outerTimeout", "tenth", "fixed-600"),
        short: answer.difference("outerTimeout", "fixed-60", "tenth-without-floor", "hanging"),
      },
      {
        tenth: "+31 points (95 % +12 to +49; 12 clusters)",
        bare: "+43 points (95 % +14 to +71; 12 clusters)",
        lost: "+4.8 points (95 % −2.3 to +11.9; 20 clusters)",
        short: "+37 points (95 % +11 to +63; 12 clusters)",
      },
    );
    expect(answer.p("outerTimeout", "fixed-60", "tenth-without-floor", "hanging")).toBeCloseTo(0.016, 3);
    const solved = (arm: string, limit: number) =>
      answer.mean("reward", arm, ({ kind, scenario }) => kind === "long_finite" && scenario.endsWith(`-${limit}`));
    const byLimit = ["fixed-600", "tenth", "tenth-without-floor"].map((arm) =>
      [900, 1_800, 5_400].map((limit) => solved(arm, limit)),
    );
    expect(byLimit).toEqual([
      [0, 0.725, 0.8375],
      [0.65, 1, 0.8375],
      [1, 1, 0.8375],
    ]);
  }, 60_000);

  test("3: slices spare an untold session half of what a hang costs, and make it give up trainings", () => {
    const answer = new Answer("3-no-budget.yaml");
    quoted(
      {
        hanging: answer.difference("seconds", "slice-240", "slice-auto", "hanging"),
        stopped: answer.difference("stopped", "slice-240", "slice-auto", "long_finite"),
        cost: answer.change("cost", "slice-240", "slice-auto"),
      },
      {
        hanging: "−3,468 s (95 % −3,643 to −3,292; 30 replicates)",
        stopped: "+0.27 (95 % +0.22 to +0.33; 30 replicates)",
        cost: "−2.9 % (95 % −3.2 % to −2.6 %; 30 replicates)",
      },
    );
  }, 60_000);

  test("4: a hard timeout cut at the reserve saves trials, and little work is lost by it", () => {
    const answer = new Answer("4-hard-timeout.yaml");
    const [unaware, aware] = [false, true].map((is) => `hard_timeout_budget_aware-${is}`);
    quoted(
      {
        lost: answer.difference("outerTimeout", aware!, unaware!),
        killed: answer.difference("timedOutSeconds", aware!, unaware!, "long_finite"),
      },
      {
        lost: "−3.83 points (95 % −4.64 to −3.03; 30 replicates)",
        killed: "+2.1 s (95 % +0.7 to +3.4; 30 replicates)",
      },
    );
  }, 60_000);

  test("5: output that extends auto-await saves polls, and costs time and money", () => {
    const answer = new Answer("5-output.yaml");
    const [fixed, extends_] = [false, true].map((is) => `foreground_auto_await_extends_on_output-${is}`);
    const of = (told: Told) => answer.difference(told, extends_!, fixed!);
    quoted(
      { polls: of("polls"), duration: of("seconds"), cost: of("cost"), tax: of("pauseTax") },
      {
        polls: "−1.25 (95 % −1.37 to −1.14; 30 replicates)",
        duration: "+164 s (95 % +149 to +180; 30 replicates)",
        cost: "+0.203 USD (95 % +0.181 to +0.224; 30 replicates)",
        tax: "+0.294 USD (95 % +0.269 to +0.318; 30 replicates)",
      },
    );
  }, 60_000);

  test("6: what remains matters on every result only where waits are not sliced", () => {
    const answer = new Answer("6-remaining.yaml");
    const against = (told: Told, slice: string) =>
      answer.difference(
        told,
        `remaining_budget_on_results-always.slice-${slice}`,
        `remaining_budget_on_results-when_clamped.slice-${slice}`,
      );
    quoted({ reward: against("reward", "none") }, { reward: "+4.9 points (95 % +3.7 to +6.1; 30 replicates)" });
    expect(against("reward", "240")).toBe("0 points (95 % 0 to 0; 30 replicates)");
    const [always, clamped] = ["always", "when_clamped"].map((when) => `remaining_budget_on_results-${when}.slice-240`);
    const seconds = (arm: string) => answer.mean("seconds", arm);
    expect(Math.abs(seconds(always!) / seconds(clamped!) - 1)).toBeLessThan(0.001);
  }, 60_000);
});
