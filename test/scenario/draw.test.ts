import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Step } from "../../src/agent/plan.ts";
import { seconds } from "../../src/policy/time.ts";
import { type Draws, keyed } from "../../src/random.ts";
import {
  compilePopulation,
  drawScenario,
  drawTask,
  replicateKey,
  type Task,
  taskName,
} from "../../src/scenario/draw.ts";
import { loadPanel, loadPopulation, loadScenario } from "../../src/scenario/load.ts";
import type { Population } from "../../src/scenario/situation.ts";
import type { ScriptedCommand } from "../../src/world/script.ts";
import { aScenario, folder } from "./files.ts";

const population = loadPopulation("deepswe-like");
const replicate = fc.integer({ min: 1, max: 1_000 }).map((number) => replicateKey(keyed, 1, number));
const index = fc.integer({ min: 0, max: population.tasks - 1 });

/** What a world runs is more than an agent sees: the script. */
type Run = Extract<Step, { step: "run" }> & { readonly command: ScriptedCommand };
const runs = ({ plan }: Task): readonly Run[] => plan.filter((step): step is Run => step.step === "run");
const foreground = (task: Task) => runs(task).filter(({ background }) => !background);
const thoughts = ({ plan }: Task) => plan.flatMap((step) => (step.step === "think" ? [step.length] : []));
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const mean = (numbers: readonly number[]) => sum(numbers) / numbers.length;

describe("a task of a population", () => {
  test("is the same for the same seed, replicate and name, in whatever order tasks are drawn", () => {
    fc.assert(
      fc.property(index, index, replicate, (one, other, key) => {
        const [first, second] = [drawTask(population, one, keyed, key), drawTask(population, other, keyed, key)];
        const afresh = compilePopulation({ ...population }, keyed);
        expect(afresh(other, key)).toEqual(second);
        expect(afresh(one, key)).toEqual(first);
      }),
      { numRuns: 100 },
    );
  });

  test("is no other's, and another in another replicate and under another seed", () => {
    const key = replicateKey(keyed, 1, 1);
    const task = drawTask(population, 0, keyed, key);
    for (const other of [
      drawTask(population, 1, keyed, key),
      drawTask(population, 0, keyed, replicateKey(keyed, 1, 2)),
      drawTask(population, 0, keyed, replicateKey(keyed, 2, 1)),
    ]) {
      expect(thoughts(other)).not.toEqual(thoughts(task));
    }
  });

  test("does not depend on the arms of the panel", () => {
    const tasks = (sets: readonly string[]) => {
      const { source, seed } = loadPanel("deepswe-headline", { sets });
      if (!("population" in source)) throw new Error("the headline panel has a population");
      return Array.from({ length: 20 }, (_, at) =>
        drawTask(source.population, at, keyed, replicateKey(keyed, seed, 3)),
      );
    };
    expect(tasks(["budgeted.slice=60", "control.profile=long"])).toEqual(tasks([]));
  });

  test("keeps all other draws when there are fewer commands, other durations or no thinking", () => {
    const lengths = (changes: Partial<Population>, key: ReturnType<typeof replicateKey>) =>
      foreground(drawTask({ ...population, ...changes }, 5, keyed, key)).map(({ command }) => command.length);
    fc.assert(
      fc.property(replicate, fc.nat(30), (key, n) => {
        const all = lengths({ commandsPerTask: { distribution: "fixed", value: 30 } }, key);
        expect(lengths({ commandsPerTask: { distribution: "fixed", value: n } }, key)).toEqual(all.slice(0, n));
        const idle: Partial<Population> = {
          thinkingSeconds: { distribution: "fixed", value: 0 },
          backgroundJobProbability: 1,
        };
        expect(lengths({ commandsPerTask: { distribution: "fixed", value: n }, ...idle }, key)).toEqual(
          all.slice(0, n),
        );
      }),
      { numRuns: 50 },
    );
  });

  test("thinks evenly before, between and after its commands, to the millisecond", () => {
    fc.assert(
      fc.property(index, replicate, (at, key) => {
        const task = drawTask(population, at, keyed, key);
        const undivided = { ...population, commandsPerTask: { distribution: "fixed", value: 0 } } as const;
        const [total] = thoughts(drawTask(undivided, at, keyed, key));
        const gaps = thoughts(task);
        expect(gaps).toHaveLength(foreground(task).length + 1);
        expect(sum(gaps)).toBe(total);
        expect(Math.max(...gaps) - Math.min(...gaps)).toBeLessThanOrEqual(1);
      }),
      { numRuns: 300 },
    );
  });

  test("without commands thinks, commits and submits", () => {
    const idle: Population = {
      ...population,
      commandsPerTask: { distribution: "fixed", value: 0 },
      backgroundJobProbability: 0,
    };
    const { plan, kind } = drawTask(idle, 0, keyed, replicateKey(keyed, 1, 1));
    expect(plan.map(({ step }) => step)).toEqual(["think", "commit", "submit"]);
    expect(kind).toBe("quick");
  });

  test("begins with its background job and one look at it, each with a step after it", () => {
    const busy: Population = {
      ...population,
      commandsPerTask: { distribution: "fixed", value: 1 },
      backgroundJobProbability: 1,
    };
    const { plan } = drawTask(busy, 0, keyed, replicateKey(keyed, 1, 1));
    expect(plan.map((step) => ({ ...step, command: undefined, length: undefined }))).toEqual([
      { step: "run", id: "background", background: true, timeout: null, thenStep: true },
      { step: "status", of: "background", thenStep: true },
      { step: "think" },
      { step: "run", id: "command-1", background: false, timeout: null, thenStep: false },
      { step: "think" },
      { step: "commit" },
      { step: "submit" },
    ]);
  });

  test("is of the gravest kind among its commands, whatever its background job", () => {
    const graveness = ["quick", "long_finite", "hanging"];
    const busy: Population = { ...population, backgroundJobProbability: 0.5 };
    for (let at = 0; at < 113; at++) {
      const task = drawTask(busy, at, keyed, replicateKey(keyed, 1, 1));
      const gravest = Math.max(0, ...foreground(task).map(({ command }) => graveness.indexOf(command.kind!)));
      expect(task.kind).toBe(graveness[gravest]);
    }
  });

  test("is called by its population and its number, counted from 1", () => {
    expect(drawTask(population, 6, keyed, replicateKey(keyed, 1, 1)).scenario).toBe("deepswe-like/007");
    expect(taskName("p", 1_233)).toBe("p/1234");
  });

  test("takes the long way for commands that print, or end in their own manner, and the same draws", () => {
    const silent = population.mix[1]!.command;
    const printing: Population = {
      ...population,
      mix: [population.mix[0]!, { p: 0.996, command: { ...silent, line: "make", exit: { code: 2, signal: null } } }],
    };
    const key = replicateKey(keyed, 1, 1);
    const [long, short] = [drawTask(printing, 3, keyed, key), drawTask(population, 3, keyed, key)];
    expect(long.kind).toBe(short.kind);
    expect(runs(long).map(({ command }) => command.length)).toEqual(runs(short).map(({ command }) => command.length));
    expect(runs(long)[0]!.command).toMatchObject({ line: "make", exit: { code: 2, signal: null } });
  });
});

describe("the headline population, over 200 replicates", () => {
  const tasks = Array.from({ length: 200 }, (_, at) => replicateKey(keyed, 1, at + 1)).flatMap((key) =>
    Array.from({ length: population.tasks }, (_, at) => drawTask(population, at, keyed, key)),
  );
  const commands = tasks.flatMap(foreground);
  const over = (limit: number) =>
    commands.filter(({ command: { length } }) => length === null || length > seconds(limit)).length / commands.length;

  // The closed form of calibration.md, 9.4, with four standard errors to either side.
  test.each([
    [10, 0.1345],
    [30, 0.0564],
    [60, 0.0304],
    [240, 0.0092],
  ])("has the share of commands over %d s that the closed form has: %d", (limit, share) => {
    expect(Math.abs(over(limit) - share)).toBeLessThan(
      4 * Math.sqrt((share * (1 - share)) / commands.length) + 0.00005,
    );
  });

  test("has 28.7 commands to a task, spread as a Poisson whose mean is a gamma of shape 1.7", () => {
    const counts = tasks.map((task) => foreground(task).length);
    const variance = 28.7 + 28.7 ** 2 / 1.7;
    expect(Math.abs(mean(counts) - 28.7)).toBeLessThan(4 * Math.sqrt(variance / counts.length));
    const none = counts.filter((count) => count === 0).length / counts.length;
    const share = (1.7 / (1.7 + 28.7)) ** 1.7;
    expect(Math.abs(none - share)).toBeLessThan(4 * Math.sqrt(share / counts.length));
  });

  test("hangs in one command of 250, and has a background job in one task of 25", () => {
    const hanging = commands.filter(({ command }) => command.kind === "hanging").length / commands.length;
    expect(Math.abs(hanging - 0.004)).toBeLessThan(4 * Math.sqrt(0.004 / commands.length));
    const jobs = tasks.filter((task) => runs(task)[0]?.background).length / tasks.length;
    expect(Math.abs(jobs - 0.04)).toBeLessThan(4 * Math.sqrt(0.04 / tasks.length));
  });

  test("thinks for 1,000 s on average", () => {
    const totals = tasks.map((task) => sum(thoughts(task)) / 1_000);
    const deviation = 1_000 * Math.sqrt(Math.exp(0.55 ** 2) - 1);
    expect(Math.abs(mean(totals) - 1_000)).toBeLessThan((4 * deviation) / Math.sqrt(totals.length));
  });
});

describe("a scenario", () => {
  const random = "{ run: { seconds: { exponential: { mean: 60 } }, output: none } }";
  const commands = `{ a: { line: a, phases: [${random}] }, b: { line: b, phases: [${random}, ${random}] } }`;
  const drawn = (plan: string, luck: Draws = keyed) => {
    const { path } = folder({ "s.yaml": aScenario({ commands, plan }) });
    return drawScenario(loadScenario(path("s.yaml")), luck, replicateKey(luck, 1, 1));
  };
  const lengthOf = (task: Task, step: string) => runs(task).find(({ id }) => id === step)!.command.length;

  test("keeps a step's draws when other steps come, go or change places", () => {
    const one = drawn("[{ run: a }, { run: b }]");
    const other = drawn(
      "[{ run: b }, { think: { seconds: { uniform: [1, 9] } } }, { run: { command: b, id: extra } }, { run: a }]",
    );
    expect([lengthOf(other, "a"), lengthOf(other, "b")]).toEqual([lengthOf(one, "a"), lengthOf(one, "b")]);
    expect(lengthOf(other, "extra")).not.toBe(lengthOf(other, "b"));
  });

  test("of one seed and replicate has one key, which no arm is part of", () => {
    const { key, scenario } = drawn("[{ run: a }]");
    expect(key).toEqual(keyed.within(keyed.within(keyed.seeded(1), 1), scenario));
  });

  test("that hangs is of that kind, and what it runs in the background counts", () => {
    const key = replicateKey(keyed, 1, 1);
    expect(drawScenario(loadScenario("hung-test-run"), keyed, key).kind).toBe("hanging");
    expect(drawScenario(loadScenario("early-failure"), keyed, key).kind).toBe("long_finite");
    const { path } = folder({ "s.yaml": aScenario({ plan: "[{ run: { command: pytest, background: true } }]" }) });
    expect(drawScenario(loadScenario(path("s.yaml")), keyed, key).kind).toBe("hanging");
  });
});
