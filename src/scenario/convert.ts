/**
 * From paper to the inside: snake case to camel case, seconds to milliseconds, renamed where converted.
 *
 * What a single value must be has been checked by its schema; here stands what must hold between values.
 */
import { dirname, resolve } from "node:path";
import type { Test } from "../agent/effects.ts";
import type { Profile, StopRule, WaitRule } from "../agent/model.ts";
import type { Grading } from "../agent/plan.ts";
import { settingsFaults, settingsOf, type WrittenSettings, written } from "../policy/settings.ts";
import { type Duration, seconds } from "../policy/time.ts";
import type { Exit, Output, OutputLine } from "../world/script.ts";
import { type Distribution, lognormalOfMean, lognormalOfMedian } from "./distribution.ts";
import { listed, shown, suggestion } from "./fault.ts";
import { spoken } from "./names.ts";
import type { Place, Reading } from "./reading.ts";
import type {
  BudgetFile,
  DistributionFile,
  OutputFile,
  PhaseFile,
  PopulationFile,
  ProfileChanges,
  ProfileFile,
  ScenarioFile,
  SettingsFile,
} from "./schema.ts";
import type { ModelChanges, Population, Scenario, UndrawnCommand, UndrawnPhase, UndrawnStep } from "./situation.ts";

/** The place of a part of what stands at another. */
export function part({ source, path }: Place, ...further: readonly (string | number)[]): Place {
  return { source, path: [...path, ...further] };
}

/** Whose files are being read: what samples lie beside, and where faults go. */
export interface Context {
  readonly reading: Reading;
  /** The file itself, for what lies beside it. */
  readonly file: string;
}

export function scenarioOf(context: Context, place: Place, file: ScenarioFile): Scenario {
  const { reading } = context;
  const tests = new Set<Test>();
  const commands: Record<string, UndrawnCommand> = {};
  for (const [name, command] of Object.entries(file.commands)) {
    const at = part(place, "commands", name);
    if (!/^[A-Za-z0-9_][\w.-]*$/.test(name))
      reading.fault(at, "is not a name: expected letters, digits, and . _ - between them");
    commands[name] = commandOf(context, at, command, file.grading, tests);
  }
  if (tests.size > file.grading.tests) {
    reading.fault(
      part(place, "grading", "tests"),
      `is ${file.grading.tests}: expected ${tests.size} or more, as so many are named (${listed([...tests].map(String))})`,
    );
  }
  const plan = planOf(context, place, file);
  const used = new Set(plan.flatMap((step) => (step.step === "run" ? [step.command] : [])));
  for (const name of Object.keys(commands)) {
    if (!used.has(name)) reading.warn(part(place, "commands", name), "is never run: no step of the plan names it");
  }
  const model: ModelChanges = Object.fromEntries(
    Object.entries(file.model ?? {}).map(([name, changes]) => [
      name,
      changesOf(reading, part(place, "model", name), changes),
    ]),
  );
  return {
    scenario: file.scenario,
    question: file.question,
    source: file.source ?? null,
    outerLimit: seconds(file.outer_limit_seconds),
    commands,
    plan,
    model,
    grading: file.grading,
  };
}

function planOf(context: Context, place: Place, { plan, commands }: ScenarioFile): readonly UndrawnStep[] {
  const { reading } = context;
  const ids = new Set<string>(
    plan.flatMap(({ run }) => (typeof run === "object" && run.id !== undefined ? [run.id] : [])),
  );
  const earlier = new Set<string>();
  const named = new Set<string>();
  let thoughts = 0;
  return plan.map((step, index): UndrawnStep => {
    const at = part(place, "plan", index);
    if (step.think !== undefined) {
      thoughts += 1;
      return {
        step: "think",
        id: `think-${thoughts}`,
        seconds: distributionOf(context, part(at, "think", "seconds"), step.think.seconds),
      };
    }
    if (step.run !== undefined) {
      const run = typeof step.run === "string" ? { command: step.run } : step.run;
      if (!Object.hasOwn(commands, run.command)) {
        const names = Object.keys(commands);
        const where = typeof step.run === "string" ? part(at, "run") : part(at, "run", "command");
        reading.fault(
          where,
          `is ${shown(run.command)}: expected one of the scenario's commands${suggestion(run.command, names)}`,
        );
      }
      const id = run.id ?? free(run.command, ids);
      if (run.id !== undefined && named.has(run.id))
        reading.fault(part(at, "run", "id"), `is ${shown(run.id)}: expected an id that no other step has`);
      if (run.id !== undefined) named.add(run.id);
      ids.add(id);
      earlier.add(id);
      return {
        step: "run",
        id,
        command: run.command,
        background: run.background ?? false,
        timeout: run.timeout_seconds === undefined ? null : seconds(run.timeout_seconds),
      };
    }
    if (step.status !== undefined) {
      if (!earlier.has(step.status)) {
        reading.fault(
          part(at, "status"),
          `is ${shown(step.status)}: expected the id of an earlier run${suggestion(step.status, [...earlier])}`,
        );
      }
      return { step: "status", of: step.status };
    }
    if (step.commit !== undefined) return { step: "commit" };
    if (index < plan.length - 1)
      reading.fault(part(at, "submit"), "comes before other steps: expected it last, and once");
    return { step: "submit" };
  });
}

/** An id for a step that was given none: its command's name, numbered from the second on. */
function free(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let at = 2; ; at++) if (!taken.has(`${name}-${at}`)) return `${name}-${at}`;
}

interface CommandFile {
  readonly line?: string | undefined;
  readonly phases: readonly PhaseFile[];
  readonly on_term?: { readonly after_seconds: number | "never" } | undefined;
}

/** @param tests gathers the tests that are named anywhere */
function commandOf(
  context: Context,
  place: Place,
  file: CommandFile,
  grading: Grading,
  tests: Set<Test>,
): UndrawnCommand {
  const { reading } = context;
  const phases: UndrawnPhase[] = [];
  let [exit, passes, spoils]: [Exit | null, readonly Test[], readonly Test[]] = [null, [], []];
  let endless = false;
  for (const [index, phase] of file.phases.entries()) {
    const at = part(place, "phases", index);
    if (endless) reading.fault(at, "is never reached: the phase before it hangs");
    else if (phase.exit !== undefined && index < file.phases.length - 1)
      reading.fault(at, "is an exit before the end: expected it last");
    if (phase.run !== undefined) {
      const length = distributionOf(context, part(at, "run", "seconds"), phase.run.seconds);
      const fixed = length.distribution === "fixed" ? seconds(length.value) : null;
      phases.push({
        phase: "run",
        seconds: length,
        output: outputOf(reading, part(at, "run", "output"), phase.run.output, fixed),
      });
    } else if (phase.hang !== undefined) {
      phases.push({ phase: "hang", output: outputOf(reading, part(at, "hang", "output"), phase.hang.output, null) });
      endless = true;
    } else if (phase.exit !== undefined) {
      exit = { code: phase.exit.code ?? null, signal: phase.exit.signal ?? null };
      [passes, spoils] = [phase.exit.passes ?? [], phase.exit.spoils ?? []];
      for (const key of ["passes", "spoils"] as const) {
        for (const [order, test] of (phase.exit[key] ?? []).entries()) {
          if (typeof test === "number" && test > grading.tests) {
            reading.fault(
              part(at, "exit", key, order),
              `is ${test}: expected a test from 1 to ${grading.tests}, as grading.tests says`,
            );
          } else tests.add(test);
        }
      }
    }
  }
  const onTerm = file.on_term?.after_seconds ?? 0;
  return { line: file.line ?? "", phases, exit, passes, spoils, onTerm: onTerm === "never" ? null : seconds(onTerm) };
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
  return {
    population: file.population,
    question: file.question ?? null,
    source: file.source ?? null,
    tasks: file.tasks,
    outerLimit: seconds(file.outer_limit_seconds),
    commandsPerTask: distributionOf(context, part(place, "commands_per_task"), file.commands_per_task),
    thinkingSeconds: distributionOf(context, part(place, "thinking_seconds"), file.thinking_seconds),
    backgroundJobProbability: file.background_job_probability ?? 0,
    mix: file.command.mix.map(({ p, ...command }, index) => ({
      p,
      command: commandOf(context, part(place, "command", "mix", index), command, file.grading, tests),
    })),
    grading: file.grading,
  };
}

function distributionOf(context: Context, place: Place, file: number | DistributionFile): Distribution {
  if (typeof file === "number") return { distribution: "fixed", value: file };
  if (file.lognormal !== undefined) {
    const { mu, sigma, mean, median, p99 } = file.lognormal;
    if (median !== undefined) return lognormalOfMedian(median, p99!);
    return mean !== undefined ? lognormalOfMean(mean, sigma!) : { distribution: "lognormal", mu: mu!, sigma: sigma! };
  }
  if (file.uniform !== undefined) return { distribution: "uniform", from: file.uniform[0], to: file.uniform[1] };
  if (file.exponential !== undefined) return { distribution: "exponential", ...file.exponential };
  if (file.poisson_gamma !== undefined) return { distribution: "poisson_gamma", ...file.poisson_gamma };
  if (file.choice !== undefined) return { distribution: "choice", choices: file.choice };
  if (file.histogram !== undefined) return { distribution: "histogram", bins: file.histogram };
  return { distribution: "samples", samples: samplesOf(context, part(place, "samples"), file.samples!) };
}

function samplesOf({ reading, file }: Context, place: Place, name: string): readonly number[] {
  const path = resolve(dirname(file), name);
  const text = reading.text(path, place);
  if (text === null) return [0];
  const samples: number[] = [];
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const first = (line.split(/[,;\t]/)[0] ?? "").trim();
    const number = first === "" ? Number.NaN : Number(first);
    if (Number.isFinite(number) && number >= 0) samples.push(number);
    // The first line may name the column; an empty line says nothing.
    else if (line.trim() !== "" && at > 0)
      reading.faults.add(
        spoken(path),
        { line: at + 1, column: 1 },
        `${shown(first)} is no sample: expected a number, zero or more`,
      );
  }
  if (samples.length === 0) reading.fault(place, `is ${shown(name)}: expected a file with a number on each line`);
  return samples.length === 0 ? [0] : samples.sort((a, b) => a - b);
}

export function profileOf(reading: Reading, place: Place, file: ProfileFile): Profile {
  return {
    profile: file.profile,
    says: file.says ?? "",
    step: seconds(file.step_seconds),
    cadence: file.cadence_seconds === undefined ? null : seconds(file.cadence_seconds),
    waits: waitsOf(reading, part(place, "waits"), file.waits),
    stopsAProcess: stopRulesOf(file.stops_a_process),
    inTheReserve: file.in_the_reserve,
  };
}

function changesOf(reading: Reading, place: Place, file: ProfileChanges): ModelChanges[string] {
  return {
    ...(file.step_seconds === undefined ? {} : { step: seconds(file.step_seconds) }),
    ...(file.cadence_seconds === undefined ? {} : { cadence: seconds(file.cadence_seconds) }),
    ...(file.waits === undefined ? {} : { waits: waitsOf(reading, part(place, "waits"), file.waits) }),
    ...(file.stops_a_process === undefined ? {} : { stopsAProcess: stopRulesOf(file.stops_a_process) }),
    ...(file.in_the_reserve === undefined ? {} : { inTheReserve: file.in_the_reserve }),
  };
}

function waitsOf(reading: Reading, place: Place, file: ProfileFile["waits"]): readonly WaitRule[] {
  return file.map(({ from, seconds: asked }, index): WaitRule => {
    const before = file[index - 1]?.from;
    if (before === undefined && from !== 1)
      reading.fault(part(place, index, "from"), `is ${from}: expected 1, as the first wait needs a rule`);
    if (before !== undefined && from <= before) {
      reading.fault(part(place, index, "from"), `is ${from}: expected more than ${before}, as rules come in order`);
    }
    const length =
      typeof asked === "number" ? seconds(asked) : asked.choice.map(({ value, p }) => ({ length: seconds(value), p }));
    return { from, length };
  });
}

function stopRulesOf(file: ProfileFile["stops_a_process"]): readonly StopRule[] {
  if (file === "never") return [];
  return file.any_of.map(({ quiet_waits, running_seconds, failure_seen }) => ({
    quietWaits: quiet_waits ?? null,
    running: running_seconds === undefined ? null : seconds(running_seconds),
    failureSeen: failure_seen ?? null,
  }));
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
