/** What a panel varies around its arms: the habit that they share, and the tasks that they meet. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { meanOf } from "../../src/distribution.ts";
import { keyed } from "../../src/random.ts";
import { drawTask, replicateKey, type Task } from "../../src/scenario/draw.ts";
import { loadPanel, loadPopulation, loadProfile } from "../../src/scenario/load.ts";
import { withHabit, withTasks } from "../../src/scenario/vary.ts";
import type { ScriptedCommand } from "../../src/world/script.ts";
import { aPanel, folder } from "./files.ts";

const population = loadPopulation("deepswe-like");
const long = loadProfile("long");

function made<Thing>(changed: { readonly made: Thing } | { readonly why: string }): Thing {
  if ("why" in changed) throw new Error(changed.why);
  return changed.made;
}

const aVariedPanel = (vary: string, changes: Readonly<Record<string, string>> = {}) =>
  `${Object.entries({
    panel: "varied",
    question: "Where does it turn?",
    population: "deepswe-like",
    replicates: "2",
    factors: "[slice, budget]",
    arms: "[treatment, budgeted]",
    hypotheses: "[{ measure: outer_timeout, arm: budgeted, against: treatment, expect: lower }]",
    vary,
    ...changes,
  })
    .filter(([, value]) => value !== "")
    .map(([key, value]) => `${key}: ${value}`)
    .join("\n")}\n`;

describe("a habit that is varied", () => {
  test("stops after so many quiet waits, and keeps the rules that ask for something beside them", () => {
    expect(made(withHabit(long, "quiet_waits", 2)).stopsAProcess).toEqual([
      { quietWaits: 2, running: null, failureSeen: null },
      { quietWaits: 1, running: 1_200_000, failureSeen: null },
    ]);
    const patient = { ...long, stopsAProcess: [] };
    expect(made(withHabit(patient, "quiet_waits", 3)).stopsAProcess).toEqual([
      { quietWaits: 3, running: null, failureSeen: null },
    ]);
  });

  test("asks for its longest wait so often, each time that it chooses", () => {
    const { waits } = made(withHabit(long, "long_wait_probability", 0.25));
    const chosen = [
      { length: 3_600_000, p: 0.25 },
      { length: 240_000, p: 0.75 },
    ];
    expect(waits).toEqual([
      { from: 1, length: chosen },
      { from: 2, length: chosen },
    ]);
  });

  test("that is what it was is the same habit", () => {
    expect(made(withHabit(long, "quiet_waits", 4))).toBe(long);
  });
});

describe("tasks that are varied", () => {
  test("hang so often, and the rest keeps its proportions", () => {
    expect(made(withTasks(population, "hang_probability", 0.008)).mix.map(({ p }) => p)).toEqual([0.008, 0.992]);
    expect(made(withTasks(population, "hang_probability", 0)).mix.map(({ p }) => p)).toEqual([0, 1]);
  });

  test("take so much thinking on average", () => {
    expect(meanOf(made(withTasks(population, "thinking_seconds", 500)).thinkingSeconds)).toBeCloseTo(500, 9);
  });

  test("that are what they were are the same tasks", () => {
    expect(made(withTasks(population, "hang_probability", 0.004))).toBe(population);
    expect(made(withTasks(population, "thinking_seconds", 1_000))).toBe(population);
  });

  const replicate = fc.integer({ min: 1, max: 1_000 }).map((number) => replicateKey(keyed, 1, number));
  const lengths = ({ plan }: Task) =>
    plan.flatMap((step) => (step.step === "run" ? [(step.command as ScriptedCommand).length] : []));
  const thoughts = ({ plan }: Task) => plan.flatMap((step) => (step.step === "think" ? [step.length] : []));

  test("that hang oftener are as they were, but for the commands that now hang", () => {
    fc.assert(
      fc.property(replicate, fc.nat(112), fc.double({ min: 0.004, max: 0.5, noNaN: true }), (key, at, p) => {
        const [before, after] = [population, made(withTasks(population, "hang_probability", p))].map((those) =>
          drawTask(those, at, keyed, key),
        ) as [Task, Task];
        expect(thoughts(after)).toEqual(thoughts(before));
        const [old, now] = [lengths(before), lengths(after)];
        expect(now).toHaveLength(old.length);
        for (const [index, length] of now.entries()) if (length !== null) expect(length).toBe(old[index]);
        for (const [index, length] of old.entries()) if (length === null) expect(now[index]).toBeNull();
      }),
      { numRuns: 200 },
    );
  });

  test("that take twice the thinking have the same commands, and twice the thoughts", () => {
    fc.assert(
      fc.property(replicate, fc.nat(112), (key, at) => {
        const [before, after] = [population, made(withTasks(population, "thinking_seconds", 2_000))].map((those) =>
          drawTask(those, at, keyed, key),
        ) as [Task, Task];
        expect(lengths(after)).toEqual(lengths(before));
        const [old, now] = [thoughts(before), thoughts(after)].map((all) => all.reduce((sum, each) => sum + each, 0));
        expect(Math.abs(now! - 2 * old!)).toBeLessThanOrEqual(2);
      }),
      { numRuns: 100 },
    );
  });
});

describe("a panel that varies something", () => {
  test("has a cell for every combination of levels, each with the panel's arms, and knows which changes nothing", () => {
    const { path } = folder({ "p.yaml": aVariedPanel("{ quiet_waits: [own, 1], command_speed: [1, 0.5] }") });
    const { arms, cells } = loadPanel(path("p.yaml"));
    expect(arms.map(({ arm }) => arm)).toEqual(["treatment", "budgeted"]);
    expect(cells.map(({ levels, isOwn }) => [levels["quiet_waits"], levels["command_speed"], isOwn])).toEqual([
      ["own", "1", false],
      ["own", "0.5", false],
      ["1", "1", false],
      ["1", "0.5", false],
    ]);
    expect(cells[3]!.panel.arms.map(({ arm }) => arm)).toEqual([
      "treatment.quiet_waits-1.command_speed-0.5",
      "budgeted.quiet_waits-1.command_speed-0.5",
    ]);
    expect(cells[3]!.panel.hypotheses[0]).toMatchObject({
      arm: "budgeted.quiet_waits-1.command_speed-0.5",
      against: "treatment.quiet_waits-1.command_speed-0.5",
    });
  });

  test("draws equal tasks once: cells with the same tasks share them", () => {
    const { cells, source } = loadPanel("sensitivity");
    expect(cells).toHaveLength(240);
    expect(new Set(cells.map(({ panel }) => panel.source))).toHaveProperty("size", 12);
    const own = cells.filter(({ isOwn }) => isOwn);
    expect(own.map(({ levels }) => levels)).toEqual([
      { long_wait_probability: "own", quiet_waits: "4", hang_probability: "0.004", thinking_seconds: "1000" },
    ]);
    expect(own[0]!.panel.source).toBe(source);
  });

  test("is changed in every cell by what the command line says of an arm", () => {
    const { cells } = loadPanel("sensitivity", { sets: ["budgeted.slice=60"] });
    for (const { panel } of cells) expect(panel.arms[1]!.written.process_wait_slice_seconds).toBe(60);
  });

  const faultsOf = (vary: string, changes: Readonly<Record<string, string>> = {}) => {
    const { path, faults } = folder({ "p.yaml": aVariedPanel(vary, changes) });
    return faults(() => loadPanel(path("p.yaml"))).map((fault) => fault.replace(/^p\.yaml:\d+:\d+: /, ""));
  };

  test.each([
    ["{ quiet_wait: [1] }", "vary.quiet_wait is nothing that can be varied; did you mean quiet_waits?"],
    ["{ slice: [60] }", "vary.slice is a factor of the arms too: expected what all arms of a cell have in common"],
    ["{ quiet_waits: [0] }", "vary.quiet_waits[0] is 0: expected a number of waits, 1 or more, or own"],
    [
      "{ hang_probability: [0.4 %] }",
      'vary.hang_probability[0] is "0.4 %": expected a probability from 0 to 1, or own',
    ],
    ["{ thinking_seconds: [0] }", "vary.thinking_seconds[0] is 0: expected a length of time above 0, or own"],
    ["{ quiet_waits: [2, own, 2] }", "vary.quiet_waits[2] is 2 again: expected each level once"],
    ["{}", "vary varies nothing: expected 1 to 4, as a page has no more directions"],
  ])("that says vary: %s is at fault", (vary, says) => {
    expect(faultsOf(vary)).toEqual([says]);
  });

  test("is at fault where what is varied is not there", () => {
    expect(faultsOf("{ hang_probability: [0.1] }", { population: "", scenarios: "[hung-test-run]" })).toEqual([
      "vary.hang_probability changes the tasks of a population, and the panel names scenarios: expected a population",
    ]);
    const arms =
      "[{ arm: a, policy: treatment, profile: short, budget: told }, { arm: b, policy: budgeted, profile: short, budget: told }]";
    const hypotheses = "[{ measure: reward, arm: b, against: a, expect: higher }]";
    expect(faultsOf("{ long_wait_probability: [0.5, 1] }", { arms, hypotheses, factors: "[slice]" })).toEqual([
      "vary.long_wait_probability varies how likely short is to ask for its longest wait: expected a profile with a choice of waits",
    ]);
  });

  test("asks a hypothesis in every cell, and one that can be asked there", () => {
    expect(faultsOf("{ quiet_waits: [1] }", { hypotheses: "" })).toEqual([
      "vary has no hypotheses to ask in every cell: expected one at least",
    ]);
    expect(
      faultsOf("{ quiet_waits: [1] }", {
        hypotheses: "[{ measure: outer_timeout, arm: budgeted, expect: zero, kind: hanging }]",
        exhibits: "[hung-test-run]",
      }).toSorted(),
    ).toEqual([
      "exhibits stands beside vary: leave it out, or vary nothing",
      'hypotheses[0].expect is "zero" beside vary: expected what one arm is held against another for',
      'hypotheses[0].kind is "hanging" beside vary: expected none, as cells differ in their kinds',
    ]);
  });

  test("is no case of a gallery", () => {
    const { path, faults } = folder({
      "g.yaml": "panel: all\nquestion: What happened?\ncases: cases\nreplicates: 1\n",
      "cases/a.yaml": aPanel({ panel: "first", vary: "{ quiet_waits: [1] }" }),
    });
    expect(faults(() => loadPanel(path("g.yaml"))).join("\n")).toContain(
      "vary stands in a case of a gallery: expected a case to vary nothing",
    );
  });
});
