/**
 * From paper to the inside: snake case to camel case, seconds to milliseconds, renamed where converted.
 *
 * What a single value must be has been checked by its schema; here stands what must hold between values.
 */
import type { Test } from "../agent/effects.ts";
import { type Deliveries, type Grading, type Limits, type OutsideEvent, UNLIMITED } from "../agent/plan.ts";
import { settingsFaults, settingsOf, type WrittenSettings, written } from "../policy/settings.ts";
import { after, beginning, type Duration, seconds } from "../policy/time.ts";
import type { Exit, Output, OutputLine } from "../world/script.ts";
import { type Context, distributionOf } from "./distributions.ts";
import { listed } from "./fault.ts";
import { changesOf } from "./habits.ts";
import { type Place, part, type Reading } from "./reading.ts";
import type { BudgetFile, GradingFile, LimitsFile, PopulationFile, ScenarioFile, SettingsFile } from "./schema.ts";
import type { ModelChanges, Population, Scenario, UndrawnCommand, UndrawnPhase } from "./situation.ts";
import { planOf } from "./steps.ts";
import type { OutputFile, PhaseFile } from "./workSchema.ts";

export function scenarioOf(context: Context, place: Place, file: ScenarioFile): Scenario {
  const { reading } = context;
  const tests = new Set<Test>();
  const commands: Record<string, UndrawnCommand> = {};
  for (const [name, command] of Object.entries(file.commands)) {
    const at = part(place, "commands", name);
    if (!/^[A-Za-z0-9_][\w.-]*$/.test(name))
      reading.fault(at, "is not a name: expected letters, digits, and . _ - between them");
    commands[name] = commandOf(context, at, command, file.grading.tests, tests);
  }
  if (tests.size > file.grading.tests) {
    reading.fault(
      part(place, "grading", "tests"),
      `is ${file.grading.tests}: expected ${tests.size} or more, as so many are named (${listed([...tests].map(String))})`,
    );
  }
  const { plan, runs } = planOf(context, place, file);
  for (const name of Object.keys(commands)) {
    if (!runs.has(name)) reading.warn(part(place, "commands", name), "is never run: no step of the plan names it");
  }
  const model: ModelChanges = Object.fromEntries(
    Object.entries(file.model ?? {}).map(([name, changes]) => [
      name,
      changesOf(context, part(place, "model", name), changes),
    ]),
  );
  return {
    scenario: file.scenario,
    question: file.question,
    says: file.says ?? null,
    source: file.source ?? null,
    outerLimit: seconds(file.outer_limit_seconds),
    commands,
    plan,
    model,
    grading: gradingOf(reading, part(place, "grading"), file.grading, Object.values(commands)),
    limits: limitsOf(file.limits),
    outside: outsideOf(reading, place, file),
    deliveries: deliveriesOf(file.deliveries),
  };
}

/** @param commands one of which has to serve where the grader asks */
function gradingOf(
  reading: Reading,
  place: Place,
  { service_must_answer_at_grading: service, ...grading }: GradingFile,
  commands: readonly UndrawnCommand[],
): Grading {
  const ports = commands.flatMap(({ port }) => port ?? []);
  if (service !== undefined && !ports.includes(service)) {
    const known = [...new Set(ports)].map(String);
    reading.fault(
      part(place, "service_must_answer_at_grading"),
      `is ${service}: expected the port of a command${known.length === 0 ? ", and none has one" : `; there ${known.length === 1 ? "is" : "are"} ${listed(known)}`}`,
    );
  }
  return { ...grading, service: service ?? null };
}

function limitsOf(file: LimitsFile): Limits {
  if (file === undefined) return UNLIMITED;
  const { steps, tokens, cost_usd: cost } = file;
  return {
    steps: steps ?? null,
    tokens: tokens ?? null,
    cost: cost === undefined ? null : Math.round(cost * 1_000_000),
  };
}

function deliveriesOf(file: ScenarioFile["deliveries"]): Deliveries | null {
  return file === undefined ? null : { failFirst: file.fail_first ?? 0, failWith: file.fail_with ?? 0 };
}

function outsideOf(reading: Reading, place: Place, file: ScenarioFile): readonly OutsideEvent[] {
  const limit = file.outer_limit_seconds;
  return (file.outside ?? []).map(({ at_seconds: at, event }, index, all): OutsideEvent => {
    const here = part(place, "outside", index, "at_seconds");
    const before = all[index - 1]?.at_seconds;
    if (before !== undefined && at < before)
      reading.fault(here, `is ${at}: expected ${before} or more, as events come in order`);
    if (at >= limit)
      reading.fault(here, `is ${at}: expected less than ${limit}, as the outer limit ends the trial then`);
    return { at: after(beginning, seconds(at)), what: event };
  });
}

type CommandFile = Omit<ScenarioFile["commands"][string], "line"> & { readonly line?: string | undefined };

/**
 * @param graded how many tests there are
 * @param tests gathers the tests that are named anywhere
 */
function commandOf(
  context: Context,
  place: Place,
  file: CommandFile,
  graded: number,
  tests: Set<Test>,
): UndrawnCommand {
  const { reading } = context;
  const phases: UndrawnPhase[] = [];
  let [exit, passes, spoils]: [Exit | null, readonly Test[], readonly Test[]] = [null, [], []];
  let over: string | null = null;
  for (const [index, phase] of file.phases.entries()) {
    const at = part(place, "phases", index);
    if (over !== null) reading.fault(at, `is never reached: the phase before it ${over}`);
    else if (phase.exit !== undefined && index < file.phases.length - 1)
      reading.fault(at, "is an exit before the end: expected it last");
    over ??= endOf(phase);
    if (phase.exit === undefined) phases.push(phaseOf(context, at, phase));
    else {
      exit = { code: phase.exit.code ?? null, signal: phase.exit.signal ?? null };
      [passes, spoils] = [phase.exit.passes ?? [], phase.exit.spoils ?? []];
      for (const key of ["passes", "spoils"] as const) {
        for (const [order, test] of (phase.exit[key] ?? []).entries()) {
          if (typeof test === "number" && test > graded) {
            reading.fault(
              part(at, "exit", key, order),
              `is ${test}: expected a test from 1 to ${graded}, as grading.tests says`,
            );
          } else tests.add(test);
        }
      }
    }
  }
  const { port, on_term } = file;
  if (port !== undefined && !file.phases.some(({ server }) => server !== undefined))
    reading.fault(part(place, "port"), `is ${port}, and nothing answers there: expected a server among the phases`);
  const onTerm = on_term?.after_seconds ?? 0;
  return {
    line: file.line ?? "",
    phases,
    exit,
    passes,
    spoils,
    onTerm: onTerm === "never" ? null : seconds(onTerm),
    port: port ?? null,
    lock: file.lock ?? null,
    signalLoss: file.signal_loss ?? 0,
    usual: file.usual_seconds === undefined ? null : seconds(file.usual_seconds),
  };
}

/** Why nothing comes after a phase; null if something can. */
function endOf({ hang, server, prompt }: PhaseFile): string | null {
  if (hang !== undefined) return "hangs";
  if (server !== undefined) return "serves for ever";
  if (prompt === undefined) return null;
  return prompt.on_eof === "hang" ? "waits for an answer for ever" : "exits, as nobody answers";
}

function phaseOf(context: Context, at: Place, { run, hang, server, prompt, child }: PhaseFile): UndrawnPhase {
  const { reading } = context;
  if (run !== undefined) {
    const length = distributionOf(context, part(at, "run", "seconds"), run.seconds);
    const fixed = length.distribution === "fixed" ? seconds(length.value) : null;
    const output = outputOf(reading, part(at, "run", "output"), run.output, fixed);
    return { phase: "run", seconds: length, output, cpu: run.cpu ?? 0 };
  }
  if (hang !== undefined) {
    const output = outputOf(reading, part(at, "hang", "output"), hang.output, null);
    return { phase: "hang", output, cpu: hang.cpu ?? 0 };
  }
  if (server !== undefined) {
    return {
      phase: "server",
      readyAfter: distributionOf(context, part(at, "server", "ready_seconds"), server.ready_seconds),
      output: outputOf(reading, part(at, "server", "output"), server.output, null),
    };
  }
  if (prompt !== undefined) {
    return {
      phase: "prompt",
      question: encoder.encode(prompt.text),
      onEndOfInput: prompt.on_eof === "hang" ? "hang" : { code: prompt.on_eof.exit, signal: null },
    };
  }
  const { seconds: lasts, group, holds_output } = child!;
  return {
    phase: "child",
    seconds: lasts === "never" ? null : distributionOf(context, part(at, "child", "seconds"), lasts),
    group,
    holdsOutput: holds_output,
  };
}

const encoder = new TextEncoder();

/** @param phase how long the phase lasts; null where that is not fixed */
function outputOf(reading: Reading, place: Place, file: OutputFile, phase: Duration | null): Output {
  if (file === "none") return { output: "none" };
  if (!Array.isArray(file))
    return { output: "every", every: seconds(file.every_seconds), line: printed(file.text, file.bytes) };
  const lines = file.map(({ at_seconds, text, says }, index): OutputLine => {
    const at = part(place, index, "at_seconds");
    const before = file[index - 1]?.at_seconds;
    if (before !== undefined && at_seconds < before)
      reading.fault(at, `is ${at_seconds}: expected ${before} or more, as lines come in order`);
    if (phase !== null && seconds(at_seconds) > phase) {
      reading.fault(at, `is ${at_seconds}: expected ${phase / 1_000} at most, as the phase ends then`);
    }
    return { at: seconds(at_seconds), line: printed(text, undefined), says: says ?? null };
  });
  return { output: "at", lines };
}

/** A line as bytes: cut or filled up to a length where one is given. */
function printed(text: string | undefined, bytes: number | undefined): Uint8Array {
  const line = encoder.encode(`${text ?? "."}\n`);
  if (bytes === undefined) return line;
  const filled = new Uint8Array(bytes).fill(".".charCodeAt(0));
  filled.set(line.subarray(0, Math.min(line.length, bytes) - 1));
  filled[bytes - 1] = "\n".charCodeAt(0);
  return filled;
}

export function populationOf(context: Context, place: Place, file: PopulationFile): Population {
  const tests = new Set<Test>();
  const mix = file.command.mix.map(({ p, ...command }, index) => ({
    p,
    command: commandOf(context, part(place, "command", "mix", index), command, file.grading.tests, tests),
  }));
  const commands = mix.map(({ command }) => command);
  return {
    population: file.population,
    question: file.question ?? null,
    source: file.source ?? null,
    tasks: file.tasks,
    outerLimit: seconds(file.outer_limit_seconds),
    commandsPerTask: distributionOf(context, part(place, "commands_per_task"), file.commands_per_task),
    thinkingSeconds: distributionOf(context, part(place, "thinking_seconds"), file.thinking_seconds),
    backgroundJobProbability: file.background_job_probability ?? 0,
    mix,
    grading: gradingOf(context.reading, part(place, "grading"), file.grading, commands),
    limits: limitsOf(file.limits),
  };
}

/** Settings of one file or one `set`, with what is impossible together within it. `below`: what it is laid upon. */
export function layerOf(
  reading: Reading,
  place: Place,
  file: SettingsFile,
  below: readonly WrittenSettings[],
): WrittenSettings {
  const layer = file as WrittenSettings;
  for (const { key, says } of settingsFaults(layer, written(settingsOf(...below, layer))))
    reading.fault(part(place, key), says);
  return layer;
}

/** What an arm's policy is told of the run around it. */
export type Budget =
  | "untold"
  | {
      readonly told: true;
      /** Null: the outer limit of whatever is run. */
      readonly runBudget: Duration | null;
      /** Null: as the settings say. */
      readonly finalizationReserve: Duration | null;
    };

export function budgetOf(reading: Reading, place: Place, file: BudgetFile): Budget {
  if (file === "untold") return "untold";
  if (file === "told") return { told: true, runBudget: null, finalizationReserve: null };
  const {
    run_budget_seconds: length,
    run_deadline_epoch_seconds: deadline,
    finalization_reserve_seconds: reserve,
  } = file;
  if (length !== undefined && deadline !== undefined) {
    reading.fault(place, "gives run_budget_seconds and run_deadline_epoch_seconds: expected one of them");
  } else if (deadline !== undefined) {
    reading.fault(
      part(place, "run_deadline_epoch_seconds"),
      `is ${deadline}: a simulation has no wall clock; expected run_budget_seconds instead`,
    );
  } else if (length === undefined) {
    reading.fault(place, "gives no run_budget_seconds: expected how long the policy is told that the run lasts");
  }
  return {
    told: true,
    runBudget: length === undefined ? null : seconds(length),
    finalizationReserve: reserve === undefined ? null : seconds(reserve),
  };
}
