import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type RunStep, runsOf, type Step } from "../../src/agent/plan.ts";
import { seconds } from "../../src/policy/time.ts";
import { type Draws, keyed } from "../../src/random.ts";
import {
  compilePopulation,
  drawScenario,
  drawTask,
  linesOf,
  replicateKey,
  type Task,
  taskName,
} from "../../src/scenario/draw.ts";
import { loadPanel, loadPopulation, loadScenario } from "../../src/scenario/load.ts";
import type { Population } from "../../src/scenario/situation.ts";
import type { ScriptedCommand } from "../../src/world/script.ts";
import { SCENARIO } from "./everything.ts";
import { aScenario, folder } from "./files.ts";

const population = loadPopulation("deepswe-like");
const replicate = fc.integer({ min: 1, max: 1_000 }).map((number) => replicateKey(keyed, 1, number));
const index = fc.integer({ min: 0, max: population.tasks - 1 });

/** What a world runs is more than an agent sees: the script. */
type Run = Extract<Step, { step: "run" }> & { readonly command: ScriptedCommand };
const runs = ({ plan }: Task): readonly Run[] => plan.filter((step): step is Run => step.step === "run");
const foreground = (task: Task) => runs(task).filter(({ background }) => !background);
/** What a task holds but for its way to draw again, which is a function. */
const facts = ({ redraw: _, ...task }: Task) => task;
const thoughts = ({ plan }: Task) => plan.flatMap((step) => (step.step === "think" ? [step.length] : []));
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const mean = (numbers: readonly number[]) => sum(numbers) / numbers.length;

describe("a task of a population", () => {
  test("is the same for the same seed, replicate and name, in whatever order tasks are drawn", () => {
    fc.assert(
      fc.property(index, index, replicate, (one, other, key) => {
        const [first, second] = [drawTask(population, one, keyed, key), drawTask(population, other, keyed, key)];
        const afresh = compilePopulation({ ...population }, keyed);
        expect(facts(afresh(other, key))).toEqual(facts(second));
        expect(facts(afresh(one, key))).toEqual(facts(first));
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
        facts(drawTask(source.population, at, keyed, replicateKey(keyed, seed, 3))),
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

describe("what a scenario may leave to luck", () => {
  const everything = () => {
    const { path } = folder({ "everything.yaml": SCENARIO });
    return loadScenario(path("everything.yaml"));
  };
  const inReplicate = (number: number) => replicateKey(keyed, 1, number);
  /** Every command that a task may run, by its step. */
  const all = ({ plan }: Task) =>
    new Map(plan.flatMap(runsOf).map(({ id, command }) => [id, command as ScriptedCommand]));
  const scripts = (task: Task) => [...all(task)].map(([id, { prints: _, clash: __, ...script }]) => [id, script]);
  const loopOf = (task: Task) => {
    const loops = task.plan.filter((step) => step.step === "until_succeeds");
    return loops.at(-1)!;
  };

  test("is certain once it is drawn, and the same whenever it is", () => {
    const scenario = everything();
    const [one, other] = [1, 1].map((at) => drawScenario(scenario, keyed, inReplicate(at)));
    expect(facts(other!)).toEqual(facts(one!));
    expect(scripts(drawScenario(scenario, keyed, inReplicate(2)))).not.toEqual(scripts(one!));
  });

  test("are servers' first answers and children's lives, each within its distribution", () => {
    const scenario = everything();
    for (let at = 1; at <= 50; at++) {
      const commands = all(drawScenario(scenario, keyed, inReplicate(at)));
      const readyAt = commands.get("dev")!.readyAt!;
      expect(readyAt).toBeGreaterThanOrEqual(seconds(3));
      expect(readyAt).toBeLessThanOrEqual(seconds(5));
      const { kind, port, length } = commands.get("dev")!;
      expect({ kind, port, length }).toEqual({ kind: "server", port: 5173, length: null });
      const [lasting, endless] = commands.get("install")!.descendants;
      expect(lasting!.endsAt).toBeGreaterThan(0);
      expect({ ...lasting, endsAt: 0 }).toEqual({ startsAt: 0, endsAt: 0, group: "own", holdsOutput: true });
      expect(endless).toEqual({ startsAt: 0, endsAt: null, group: "same", holdsOutput: false });
      expect(commands.get("install")).toMatchObject({ lock: "node_modules", usual: seconds(40) });
    }
  });

  test("is whether anybody hears of an end, and that touches nothing else", () => {
    const scenario = everything();
    const { install } = scenario.commands;
    const never = { ...scenario, commands: { ...scenario.commands, install: { ...install!, signalLoss: 0 } } };
    let lost = 0;
    for (let at = 1; at <= 2_000; at++) {
      const [drawn, heard] = [scenario, never].map(
        (each) => all(drawScenario(each, keyed, inReplicate(at))).get("install")!,
      );
      if (drawn!.signalLost) lost += 1;
      expect(heard!.signalLost).toBe(false);
      expect(heard!.length).toBe(drawn!.length);
    }
    expect(Math.abs(lost / 2_000 - 0.25)).toBeLessThan(4 * Math.sqrt((0.25 * 0.75) / 2_000));
  });

  test("is after which thought a repair succeeds: the sooner, the likelier each is to mend, and never later", () => {
    const scenario = everything();
    /** How many attempts run what does not work yet. */
    const inVain = (mendsWith: number, at: number) => {
      const plan = scenario.plan.map((step) =>
        step.step === "until_succeeds" && step.mended !== null ? { ...step, mendsWith } : step,
      );
      const { attempts, thoughts } = loopOf(drawScenario({ ...scenario, plan }, keyed, inReplicate(at)));
      expect(thoughts).toHaveLength(attempts.length - 1);
      const works = attempts.map(({ command }) => (command as ScriptedCommand).exit.code === 0);
      expect(works).toEqual(works.toSorted());
      return works.filter((one) => !one).length;
    };
    const counts: number[] = [];
    for (let at = 1; at <= 1_000; at++) {
      const [never, seldom, often, always] = [0, 0.3, 0.7, 1].map((p) => inVain(p, at));
      expect([never, always]).toEqual([5, 1]);
      expect(often!).toBeLessThanOrEqual(seldom!);
      counts.push(seldom!);
    }
    // Five attempts, four thoughts: 1 + 0.7 + 0.49 + 0.343 + 0.2401.
    const expected = 2.7731;
    expect(Math.abs(mean(counts) - expected)).toBeLessThan((4 * 1.6) / Math.sqrt(counts.length));
  });

  test("is drawn anew for each attempt of a loop, and stays as it is when there may be more of them", () => {
    const scenario = everything();
    const upTo = (atMost: number) => {
      const plan = scenario.plan.map((step) => (step.step === "until_succeeds" ? { ...step, atMost } : step));
      return loopOf(drawScenario({ ...scenario, plan }, keyed, inReplicate(1)));
    };
    const lengths = ({ attempts }: { attempts: readonly RunStep[] }) =>
      attempts.map(({ command }) => (command as ScriptedCommand).length);
    const [few, many] = [upTo(3), upTo(9)];
    expect(new Set(lengths(many)).size).toBe(9);
    expect(lengths(many).slice(0, 3)).toEqual(lengths(few));
    expect(many.thoughts.slice(0, 2)).toEqual(few.thoughts);
    expect(new Set(many.attempts.map(({ id }) => id)).size).toBe(9);
  });

  test("is drawn again for a rerun, of whichever step, and shifts nothing", () => {
    const task = drawScenario(everything(), keyed, inReplicate(1));
    const before = scripts(task);
    for (const [id, command] of all(task)) {
      const again = task.redraw!(id, 1) as ScriptedCommand;
      expect(again.line).toBe(command.line);
      expect(again.exit).toEqual(command.exit);
      expect(task.redraw!(id, 1)).toEqual(again);
      expect(task.redraw!(id, 0)).toEqual(command);
      if (id.startsWith("mending")) expect(again.length).not.toBe(command.length);
    }
    expect(scripts(task)).toEqual(before);
    const ids = [...all(task).keys()].filter((id) => id.startsWith("mending"));
    const reruns = ids.map((id) => (task.redraw!(id, 1) as ScriptedCommand).length);
    expect(new Set([...reruns, ...ids.map((id) => all(task).get(id)!.length)]).size).toBe(2 * ids.length);
  });

  test("does not depend on the thoughts before a job, nor a job on those within another", () => {
    const thoughts = (plan: string) => {
      const { path } = folder({ "s.yaml": aScenario({ plan }) });
      const task = drawScenario(loadScenario(path("s.yaml")), keyed, inReplicate(1));
      return task.plan.flatMap((step) =>
        step.step === "job" ? step.plan.flatMap((inner) => (inner.step === "think" ? inner.length : [])) : [],
      );
    };
    const think = "{ think: { seconds: { uniform: [1, 900] } } }";
    const one = `{ job: { id: one, plan: [${think}, { run: pytest }] } }`;
    const two = `{ job: { id: two, plan: [${think}] } }`;
    const [first, second] = thoughts(`[${one}, ${two}]`);
    expect(first).not.toBe(second);
    expect(thoughts(`[${think}, ${two}, ${think}, ${one}]`)).toEqual([second, first]);
  });

  test("of several background commands started side by side, the model takes one step for all", () => {
    const run = (id: string, background: boolean) =>
      `{ run: { command: pytest, id: ${id}, background: ${background} } }`;
    const plan = `[{ together: [${run("a", true)}, ${run("b", true)}, ${run("c", false)}] }, { await: a }]`;
    const { path } = folder({ "s.yaml": aScenario({ plan }) });
    const [together] = drawScenario(loadScenario(path("s.yaml")), keyed, inReplicate(1)).plan;
    expect(runsOf(together!).map(({ id, thenStep, neededLater }) => [id, thenStep, neededLater])).toEqual([
      ["a", false, true],
      ["b", true, undefined],
      ["c", false, undefined],
    ]);
  });

  test.each([
    ["quick", ["quick"]],
    ["long_finite", ["quick", "long"]],
    ["server", ["long", "server", "quick"]],
    ["hanging", ["server", "hang", "long"]],
  ])("makes a trial %s that runs %j", (kind, commands) => {
    const phases = {
      quick: "{ run: { seconds: 9, output: none } }",
      long: "{ run: { seconds: 10, output: none } }",
      server: "{ server: { ready_seconds: 60, output: none } }",
      hang: "{ prompt: { text: Sure?, on_eof: hang } }",
    };
    const all = Object.entries(phases).map(([name, phase]) => `${name}: { line: ${name}, phases: [${phase}] }`);
    const plan = `[{ job: { plan: [${commands.map((name) => `{ run: ${name} }`).join(", ")}] } }]`;
    const { path } = folder({ "s.yaml": aScenario({ commands: `{ ${all.join(", ")} }`, plan }) });
    expect(drawScenario(loadScenario(path("s.yaml")), keyed, inReplicate(1)).kind).toBe(kind);
  });
});

describe("a population", () => {
  const mixed = (mix: string) => {
    const { path } = folder({
      "p.yaml": `population: p
tasks: 40
outer_limit_seconds: 900
limits: { steps: 50 }
commands_per_task: 6
thinking_seconds: 60
background_job_probability: 0.5
command: { mix: [${mix}] }
grading: { tests: 1, reward: all_tests, credit: submitted, service_must_answer_at_grading: 80 }
`,
    });
    return loadPopulation(path("p.yaml"));
  };
  const random = "{ run: { seconds: { exponential: { mean: 60 } }, output: none } }";
  const server =
    "{ p: 0.2, port: 80, lock: pid, signal_loss: 1, phases: [{ server: { ready_seconds: 2, output: none } }] }";

  test("may serve, lock and lose signals; what it runs is called by one word where it has no line", () => {
    const p = mixed(
      `${server}, { p: 0.7, phases: [${random}] }, { p: 0.1, line: make, usual_seconds: 5, phases: [${random}] }`,
    );
    expect(linesOf(p)).toEqual(["a drawn command", "make"]);
    const tasks = Array.from({ length: 40 }, (_, at) => drawTask(p, at, keyed, replicateKey(keyed, 1, 1)));
    const commands = tasks.flatMap((task) => runs(task).map(({ command }) => command));
    const served = commands.filter(({ kind }) => kind === "server");
    expect(served.length).toBeGreaterThan(20);
    for (const { port, lock, signalLost, line, clash } of served) {
      expect({ port, lock, signalLost, line, clash: clash!.line }).toEqual({
        port: 80,
        lock: "pid",
        signalLost: true,
        line: "a drawn command",
        clash: "a drawn command",
      });
    }
    const made = commands.filter(({ line }) => line === "make");
    expect(made.every(({ usual }) => usual === seconds(5))).toBe(true);
    expect(tasks.every(({ limits }) => limits.steps === 50)).toBe(true);
    expect(tasks.some(({ kind }) => kind === "server")).toBe(true);
    expect(tasks[0]!.grading.service).toBe(80);
  });

  test("draws a rerun of the same command of its mix, with other lengths, and its tasks stay as they are", () => {
    const p = mixed(
      `${server}, { p: 0.4, line: make, phases: [${random}] }, { p: 0.4, line: test, phases: [${random}, ${random}] }`,
    );
    for (let at = 0; at < 40; at++) {
      const task = drawTask(p, at, keyed, replicateKey(keyed, 1, 1));
      for (const { id, command } of runs(task)) {
        const again = task.redraw!(id, 1) as ScriptedCommand;
        expect([again.line, again.kind === "server"]).toEqual([command.line, command.kind === "server"]);
        if (command.length !== null) expect(again.length).not.toBe(command.length);
        expect(task.redraw!(id, 2)).toEqual(task.redraw!(id, 2));
        expect(task.redraw!(id, 0)).toEqual(command);
      }
      expect(facts(drawTask(p, at, keyed, replicateKey(keyed, 1, 1)))).toEqual(facts(task));
    }
  });
});
