/** The ordinary trial, for tests: whatever a test does not name is as shipped. */
import type { TrialEvent } from "../src/agent/events.ts";
import { journal } from "../src/agent/journal.ts";
import type { Profile } from "../src/agent/model.ts";
import type { Plan } from "../src/agent/plan.ts";
import { trial } from "../src/agent/trial.ts";
import type { ToldBudget } from "../src/policy/budget.ts";
import { settingsOf, type WrittenSettings } from "../src/policy/settings.ts";
import { type Instant, seconds } from "../src/policy/time.ts";
import { keyed } from "../src/random.ts";
import type { KernelOptions } from "../src/world/kernel.ts";
import { type Output, type Phase, type ScriptSpec, SILENT, scripted } from "../src/world/script.ts";
import { simulate } from "../src/world/simulated.ts";

export interface RunSpec {
  readonly settings?: WrittenSettings;
  /** Seconds; left out: not told. */
  readonly told?: number;
  /** Seconds. */
  readonly reserve?: number;
  /** Seconds. */
  readonly outerLimit?: number;
  readonly plan: Plan;
  readonly profile?: Partial<Profile>;
  readonly kernel?: KernelOptions;
  /** Seconds at which a client cancels. */
  readonly cancels?: readonly number[];
}

export const patient: Profile = {
  profile: "patient",
  says: "asks for an hour, and never gives up on a process",
  step: seconds(5),
  cadence: null,
  waits: [{ from: 1, length: seconds(3_600) }],
  stopsAProcess: [],
  inTheReserve: "stop_and_go_on",
};

export function told(spec: RunSpec): ToldBudget | null {
  if (spec.told === undefined) return null;
  return {
    runBudget: seconds(spec.told),
    ...(spec.reserve === undefined ? {} : { finalizationReserve: seconds(spec.reserve) }),
  };
}

/** One trial in a world of its own. */
export function aRun(spec: RunSpec): readonly TrialEvent[] {
  let events: readonly TrialEvent[] = [];
  simulate({
    first: 0,
    cutGrace: seconds(10),
    ...(spec.kernel === undefined ? {} : { kernel: spec.kernel }),
    lanes: [
      {
        slots: 1,
        entrants: [
          {
            outerLimit: seconds(spec.outerLimit ?? 5_400),
            cancels: (spec.cancels ?? []).map((at) => seconds(at) as number as Instant),
            begin: (record) =>
              trial(
                {
                  plan: spec.plan,
                  profile: { ...patient, ...spec.profile },
                  settings: settingsOf(spec.settings ?? {}),
                  told: told(spec),
                  outerLimit: seconds(spec.outerLimit ?? 5_400),
                  luck: keyed,
                  key: keyed.seeded(1),
                },
                record,
              ),
            ended: (ended) => {
              events = ended.events;
            },
          },
        ],
      },
    ],
  });
  return events;
}

export const journalOf = (spec: RunSpec): string[] => journal(aRun(spec));

const bytes = (text: string) => new TextEncoder().encode(text);

/** One line every so many seconds. */
export const every = (interval: number, line = "x\n"): Output => ({
  output: "every",
  every: seconds(interval),
  line: bytes(line),
});

/** Lines at stated seconds. */
export const lines = (...said: readonly (readonly [number, string])[]): Output => ({
  output: "at",
  lines: said.map(([at, text]) => ({ at: seconds(at), line: bytes(text), says: null })),
});

export const lasts = (length: number, output: Output = SILENT): Phase => ({
  phase: "run",
  length: seconds(length),
  output,
});
export const hangs = (output: Output = SILENT): Phase => ({ phase: "hang", output });

export const command = (...phases: readonly Phase[]) => commandOf({ phases });
export const commandOf = (spec: Omit<ScriptSpec, "line"> & { readonly line?: string }) =>
  scripted({ line: "pytest -q", ...spec });

/** A plan step that runs a command; its options as the model would give them. */
export function runs(
  what: ReturnType<typeof scripted>,
  options: { readonly background?: boolean; readonly timeout?: number; readonly id?: string } = {},
): Plan[number] {
  return {
    step: "run",
    id: options.id ?? "it",
    command: what,
    background: options.background ?? false,
    timeout: options.timeout === undefined ? null : seconds(options.timeout),
    thenStep: false,
  };
}

export const thinks = (length: number): Plan[number] => ({ step: "think", length: seconds(length) });
export const commits: Plan[number] = { step: "commit" };
export const submits: Plan[number] = { step: "submit" };
