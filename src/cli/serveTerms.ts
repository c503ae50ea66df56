/** By what a session is served: flags over environment over the policy's file, with every fault at once. */
import { join } from "node:path";
import { BUDGET_ENVIRONMENT, type BudgetSource, readBudget, type ToldBudget } from "../policy/budget.ts";
import {
  type SettingKey,
  type Settings,
  settingFault,
  settingsFaults,
  settingsOf,
  written,
} from "../policy/settings.ts";
import { type Duration, seconds } from "../policy/time.ts";
import { FileFaults } from "../scenario/fault.ts";
import { loadPolicy, type Policy } from "../scenario/load.ts";
import type { Outside } from "./command.ts";
import { type Flags, type Given, readFlags, text } from "./flags.ts";
import { folderFault } from "./folder.ts";

const flags = {
  policy: text("which policy decides: one that ships, or a file (default: shipped)", "NAME"),
  "run-budget-seconds": text("how long the whole run lasts, from now on", "SECONDS"),
  "run-deadline-epoch-seconds": text("when the whole run ends, in seconds since the epoch", "SECONDS"),
  "finalization-reserve-seconds": text("how much of the run is kept for finishing (default: the policy's)", "SECONDS"),
  "max-hold-seconds": text(
    "longest hold of one call, or none (default: the policy's, or 50 where the client asks for no progress)",
    "SECONDS",
  ),
  out: text("folder to write into (default: out/serve-<start>)", "DIR"),
};

export const serveFlags: Flags = flags;

/** What a session is to be served by. */
export interface Terms {
  readonly policy: Policy;
  readonly settings: Settings;
  /** Null: not told. */
  readonly told: ToldBudget | null;
  /** Longest hold of a request that asks for no progress; null: the settings' own bound is all there is. */
  readonly quietHold: Duration | null;
  /** What the command line says of the settings. */
  readonly overrides: readonly string[];
  /** Names the session, among all that were ever served. */
  readonly session: string;
  readonly out: string;
}

/** The terms, or every fault of flags, environment, policy and folder at once. */
export function termsOf(argv: Readonly<Record<string, unknown>>, { environment }: Outside): Terms {
  const { given, faults: found } = readFlags(argv, flags, []);
  const faults = [...found];
  const policy = policyOf(given.policy ?? "shipped", faults);
  const budget = readBudget(sourcesOf(given, environment, policy));
  if ("faults" in budget) faults.push(...budget.faults);
  const hold = holdOf(given["max-hold-seconds"], policy, faults);
  const session = `serve-${new Date().toISOString().replace(/[-:]|\.\d+Z/g, "")}-${process.pid}`;
  const out = given.out ?? join("out", session);
  const fault = folderFault(out);
  if (fault !== null) faults.push(fault);
  if (faults.length > 0 || policy === null || "faults" in budget || hold === null) throw new FileFaults(faults);
  return { policy, told: budget.told, ...hold, session, out };
}

function policyOf(reference: string, faults: string[]): Policy | null {
  try {
    return loadPolicy(reference);
  } catch (error) {
    if (!(error instanceof FileFaults)) throw error;
    faults.push(...error.faults);
    return null;
  }
}

/** The places that may tell a budget, those that win first. */
function sourcesOf(
  given: Given<typeof flags>,
  environment: Outside["environment"],
  policy: Policy | null,
): readonly BudgetSource[] {
  const from = (place: string, tells: (key: keyof typeof BUDGET_ENVIRONMENT) => unknown): BudgetSource => ({
    place,
    run_budget_seconds: tells("run_budget_seconds"),
    run_deadline_epoch_seconds: tells("run_deadline_epoch_seconds"),
    finalization_reserve_seconds: tells("finalization_reserve_seconds"),
  });
  return [
    from("command line", (key) => given[key.replaceAll("_", "-") as keyof typeof given]),
    from("environment", (key) => environment[BUDGET_ENVIRONMENT[key]]),
    ...(policy === null ? [] : [{ place: policy.file, ...policy.budget } as BudgetSource]),
  ];
}

/** What clients that ask for no progress give up at is 60 s; they are answered before that. */
const QUIET_HOLD_SECONDS = 50;
const MAX_HOLD: SettingKey = "max_hold_seconds";

/** Settings and limits, of a flag over the policy's file over the default; null where they cannot be. */
function holdOf(
  said: string | undefined,
  policy: Policy | null,
  faults: string[],
): Pick<Terms, "settings" | "quietHold" | "overrides"> | null {
  if (said !== undefined) {
    const value = said.trim() === "none" ? "none" : said.trim() === "" ? Number.NaN : Number(said);
    const expected = settingFault(MAX_HOLD, value);
    if (expected !== null) {
      faults.push(`--max-hold-seconds is ${said}: expected ${expected}`);
      return null;
    }
    if (policy === null) return null;
    const layer = { [MAX_HOLD]: value };
    const settings = settingsOf(policy.layer, layer);
    if (isTooShort(settings, "--max-hold-seconds", faults)) return null;
    return { settings, quietHold: null, overrides: [`${MAX_HOLD}=${value}`] };
  }
  if (policy === null) return null;
  const { settings, layer } = policy;
  if (layer[MAX_HOLD] !== undefined) return { settings, quietHold: null, overrides: [] };
  const quiet = settingsOf(layer, { [MAX_HOLD]: QUIET_HOLD_SECONDS });
  if (isTooShort(quiet, "--max-hold-seconds, where the client asks for no progress,", faults)) return null;
  return { settings, quietHold: seconds(QUIET_HOLD_SECONDS), overrides: [] };
}

/** Whether a longest hold would cut initial holds. */
function isTooShort(settings: Settings, name: string, faults: string[]): boolean {
  const wrong = settingsFaults({}, written(settings)).find(({ key }) => key === MAX_HOLD);
  if (wrong !== undefined) faults.push(`${name} ${wrong.says}; give --max-hold-seconds another value, or none`);
  return wrong !== undefined;
}
