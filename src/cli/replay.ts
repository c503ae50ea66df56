/** `replay`: the journal of one trial. */
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TrialEvent } from "../agent/events.ts";
import { journal } from "../agent/journal.ts";
import { entrant, providerOf, replayAmidOthers, replay as replayTrial } from "../experiment/conduct.ts";
import { scheduled, tasksOf } from "../experiment/schedule.ts";
import { type Duration, seconds } from "../policy/time.ts";
import { type Key, keyed } from "../random.ts";
import { drawScenario, replicateKey, type Task } from "../scenario/draw.ts";
import { listed, nearest } from "../scenario/fault.ts";
import { type Arm, loadPanel, loadScenario, type Panel, shippedArms } from "../scenario/load.ts";
import { eventOnPaper } from "../telemetry/rows.ts";
import type { Command } from "./command.ts";
import { EXIT, UsageError } from "./exit.ts";
import { choice, on, readFlags, refuse, text, whole } from "./flags.ts";
import { writeWhole } from "./folder.ts";
import { traceOfTrial } from "./trace.ts";

const flags = {
  arm: text("under which arm: one of panels/arms.yaml, or of the panel", "NAME"),
  replicate: whole("which replicate of the panel", 1, { default: 1 }),
  seed: whole("of every draw (default: 1, or the panel's)", 0),
  world: choice(["simulated", "fake-timers", "real"], "where it happens; real: children that play the script", {
    default: "simulated",
  }),
  speed: whole("how many times as fast the real world goes", 1, { default: 100 }),
  json: on("print the events as one JSON object"),
  trace: text("a file for the trial as a trace, which Perfetto and chrome://tracing open", "FILE"),
};

export const replay: Command = {
  usage: "replay <trial>",
  says: "the journal of one trial, of a scenario or of a panel's task",
  flags,
  examples: [
    ["replay scenarios/hung-test-run.yaml --arm budgeted", "how the budgeted arm gets out of a hung test run"],
    ["replay panels/deepswe-headline.yaml#017 --arm treatment --replicate 3", "task 17 of the third replicate"],
    ["replay early-failure --arm control --world real --speed 100", "the same, with real children"],
    ["replay hung-test-run --arm control --json", "its events, for a program"],
    ["replay hung-test-run --arm budgeted --trace hung.trace.json", "a trace as well: drop it on ui.perfetto.dev"],
  ],
  async does(argv, { stdout, stderr }) {
    const { given, faults } = readFlags(argv, flags, ["trial"]);
    refuse(
      ...faults,
      ...(given.arm === undefined ? ["--arm is missing: expected the name of an arm"] : []),
      ...(given.trace === undefined ? [] : unwritable(given.trace)),
    );
    const trial = await found(String(argv["trial"]), given.arm!, given.seed, given.replicate);
    const { task, arm, seed } = trial;
    refuse(...uncounted(trial), ...unreached(given.world, trial));
    const events = await eventsIn(given.world, trial, given.speed);
    if (given.trace !== undefined) {
      keepTrace(given.trace, traceOfTrial(events, arm.arm));
      stderr.write(`trace: ${given.trace}\n`);
    }
    if (given.json) {
      const told = {
        scenario: task.scenario,
        arm: arm.arm,
        seed,
        replicate: given.replicate,
        world: given.world,
        events: events.map(eventOnPaper),
      };
      stdout.write(`${JSON.stringify(told)}\n`);
    } else {
      const which = given.replicate === 1 ? "" : `, replicate ${given.replicate}`;
      stdout.write(`${task.scenario}, ${arm.arm}, seed ${seed}${which}\n\n${journal(events).join("\n")}\n`);
    }
    return EXIT.done;
  },
};

/** Why no trace can stand there; looks only. */
function unwritable(path: string): readonly string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    return [`--trace is ${path}, which is a folder: expected a file to write`];
  }
  if (!existsSync(dirname(path))) return [`--trace is ${path}: expected a folder that is there, not ${dirname(path)}`];
  return [];
}

function keepTrace(path: string, trace: string): void {
  try {
    writeWhole(path, trace);
  } catch (error) {
    throw new UsageError(
      `--trace is ${path}, which cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

type World = "simulated" | "fake-timers" | "real";

/** @param weather what the weather of the arm's provider is keyed by */
async function eventsIn(world: World, { arm, task, cutGrace, weather, amidOthers }: Found, speed: number) {
  if (world === "simulated") return amidOthers === null ? replayTrial(arm, task, cutGrace, weather) : amidOthers();
  const candidate = entrant(arm, task, keyed, () => {});
  const provider = providerOf(arm, keyed, weather);
  const { fakeClock, realClock } = await import("../world/clock.ts");
  const { LiveWorld, trialOn } = await import("../world/live.ts");
  if (world === "fake-timers") {
    const { scriptedPort } = await import("../world/scriptedPort.ts");
    const clock = fakeClock();
    const ended = trialOn(new LiveWorld(clock, scriptedPort(clock, arm.host)), candidate, provider);
    clock.run();
    return (await ended).events;
  }
  const { childrenPort } = await import("../world/children.ts");
  const { performing } = await import("../world/performer.ts");
  const folder = mkdtempSync(join(tmpdir(), "yieldpoint-replay-"));
  const clock = realClock({ speed });
  const children = childrenPort({
    clock,
    folder,
    session: `replay-${process.pid}`,
    environment: process.env,
    cwd: folder,
  });
  clock.begin();
  try {
    return (await trialOn(new LiveWorld(clock, performing(children, speed)), candidate, provider)).events;
  } finally {
    await children.endAll();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Limits that nobody could keep: without a provider no tokens are counted. */
function uncounted({ task, arm }: Found): readonly string[] {
  const { tokens, cost } = task.limits;
  if (arm.provider !== null || (tokens === null && cost === null)) return [];
  return [
    `${task.scenario} limits ${tokens === null ? "cost" : "tokens"}, and arm ${arm.arm} has no provider to count them by: replay it as a task of a panel that names one, like panel.yaml#1`,
  ];
}

/** Only a simulated harness misses the agent: a live one would leave it at work with nobody to end it. */
function unreached(world: World, { arm }: Found): readonly string[] {
  if (world === "simulated" || arm.cutReaches === "agent") return [];
  return [`--world is ${world}, and arm ${arm.arm} has cut_reaches client: expected simulated`];
}

interface Found {
  readonly task: Task;
  readonly arm: Arm;
  readonly seed: number;
  readonly cutGrace: Duration;
  readonly weather: Key;
  /** Its events in the panel's whole world, where other trials have a say in them; null: they have none. */
  readonly amidOthers: (() => readonly TrialEvent[]) | null;
}

async function found(trial: string, armName: string, seedGiven: number | undefined, replicate: number): Promise<Found> {
  const hash = trial.lastIndexOf("#");
  if (hash < 0) {
    const seed = seedGiven ?? 1;
    const scenario = loadScenario(trial);
    const arm = armNamed(armName, shippedArms(), "panels/arms.yaml");
    return {
      task: drawScenario(scenario, keyed, replicateKey(keyed, seed, replicate)),
      arm,
      seed,
      cutGrace: seconds(10),
      weather: replicateKey(keyed, seed, replicate),
      amidOthers: null,
    };
  }
  const whole = loadPanel(trial.slice(0, hash), seedGiven === undefined ? {} : { seed: seedGiven });
  // Where a panel varies what is around its arms, an arm is known with its levels: its cell is a panel of its own.
  const cell = whole.cells.find((each) => each.panel.arms.some(({ arm }) => arm === armName));
  const panel = cell?.panel ?? whole;
  if (panel.cases.length > 0) {
    throw new UsageError(
      `${panel.panel} is a gallery of cases: replay a task of one of them, like ${panel.cases[0]!.file}#1`,
    );
  }
  const task = taskNumbered(panel, trial.slice(hash + 1), replicate);
  const arm = armNamed(armName, [...panel.arms, ...shippedArms()], `panel ${panel.panel} and panels/arms.yaml`);
  const weather = replicateKey(keyed, panel.seed, replicate);
  const isOfPanel = panel.arms.some((own) => own.arm === arm.arm);
  const amidOthers =
    isOfPanel && (arm.provider !== null || arm.host !== null)
      ? () => replayAmidOthers(panel, scheduled(panel, keyed), replicate, arm, task.scenario)
      : null;
  return { task, arm, seed: panel.seed, cutGrace: panel.cutGrace, weather, amidOthers };
}

function taskNumbered(panel: Panel, said: string, replicate: number): Task {
  const number = Number(said);
  const tasks = tasksOf(panel);
  if (!Number.isInteger(number) || number < 1 || number > tasks) {
    throw new UsageError(`#${said} is no task of panel ${panel.panel}: expected #1 to #${tasks}`);
  }
  return scheduled(panel, keyed)(replicate)[number - 1]!;
}

function armNamed(name: string, arms: readonly Arm[], where: string): Arm {
  const arm = arms.find((candidate) => candidate.arm === name);
  if (arm !== undefined) return arm;
  const names = [...new Set(arms.map((candidate) => candidate.arm))];
  const near = nearest(name, names);
  throw new UsageError(
    `--arm is ${name}: no such arm in ${where}${near === null ? `; there are ${listed(names)}` : `; did you mean ${near}?`}`,
  );
}
