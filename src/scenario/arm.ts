/**
 * Arms, resolved: what a policy file, an arm and a command line say, laid one upon the other.
 *
 * A panel names its factors, and its arms may differ in nothing else. It is the resolved arms that are compared, for
 * two policies can differ in more than their names let on.
 */
import type { Profile } from "../agent/model.ts";
import { type RunBudget, runBudget, type ToldBudget } from "../policy/budget.ts";
import {
  type SettingKey,
  type Settings,
  settingKeys,
  settingsOf,
  type WrittenSettings,
  written,
} from "../policy/settings.ts";
import { type Duration, inSeconds } from "../policy/time.ts";
import type { Budget } from "./convert.ts";
import { listed, nearest } from "./fault.ts";

/** One way of running every scenario of a panel. Arms differ in what is written here, nothing else. */
export interface Arm {
  readonly arm: string;
  /** The sentence that a report prints under the arm's name. */
  readonly says: string;
  /** The name of its policy. What the policy says is in the settings. */
  readonly policy: string;
  readonly profile: Profile;
  readonly settings: Settings;
  /** The same as on paper, complete. */
  readonly written: Required<WrittenSettings>;
  readonly budget: Budget;
  /** Its level of each factor, by the factor's name; what trials are grouped by. */
  readonly factors: Readonly<Record<string, string>>;
}

/** What the policy of an arm is told in a run that the harness ends at `outerLimit`; null if nothing. */
export function toldBudget({ budget }: Pick<Arm, "budget">, outerLimit: Duration): ToldBudget | null {
  if (budget === "untold") return null;
  const { finalizationReserve } = budget;
  return {
    runBudget: budget.runBudget ?? outerLimit,
    ...(finalizationReserve === null ? {} : { finalizationReserve }),
  };
}

/** The budget of an arm in a run of this length, if its reserve takes half of it or more; null otherwise. */
export function greedyBudget(arm: Arm, outerLimit: Duration): RunBudget | null {
  const told = toldBudget(arm, outerLimit);
  if (told === null) return null;
  const budget = runBudget(told, arm.settings);
  return budget.reserve * 2 >= budget.length ? budget : null;
}

/** Settings that have a short name as factors. */
const FACTOR_SETTINGS: Readonly<Record<string, SettingKey>> = {
  cap: "foreground_auto_await_max_seconds",
  slice: "process_wait_slice_seconds",
  reserve: "finalization_reserve_seconds",
};

export const factorWords = ["cap", "habit", "slice", "budget", "reserve"] as const;

export const everyFactor: readonly string[] = [...factorWords, ...settingKeys];

/** What a factor's name stands for: a settings key, `profile` or `budget`; null if it is no factor. */
export function factorAspect(name: string): SettingKey | "profile" | "budget" | null {
  if (name === "habit") return "profile";
  if (name === "budget") return "budget";
  const key = Object.hasOwn(FACTOR_SETTINGS, name) ? FACTOR_SETTINGS[name]! : name;
  return (settingKeys as readonly string[]).includes(key) ? (key as SettingKey) : null;
}

/** Why a name is no factor. */
export function notAFactor(name: string): string {
  const near = nearest(name, everyFactor);
  return `is not a factor; ${near === null ? `factors are ${listed(factorWords)}, and every settings key` : `did you mean ${near}?`}`;
}

/** The short name of what arms differ in, where it has one. */
function factorName(aspect: string): string {
  if (aspect === "profile") return "habit";
  return Object.entries(FACTOR_SETTINGS).find(([, key]) => key === aspect)?.[0] ?? aspect;
}

/** What an arm is made of, before anything is resolved. */
export interface ArmParts {
  readonly arm: string;
  readonly says: string;
  readonly policy: string;
  readonly profile: Profile;
  readonly budget: Budget;
  /** Later ones win; the policy's own first. */
  readonly layers: readonly WrittenSettings[];
}

/** @param factors names of the declared factors */
export function resolved({ layers, ...parts }: ArmParts, factors: readonly string[]): Arm {
  const settings = settingsOf(...layers);
  const bare = { ...parts, settings, written: written(settings) };
  const levels = aspectsOf(bare);
  return { ...bare, factors: Object.fromEntries(factors.map((name) => [name, levels[factorAspect(name)!]!.level])) };
}

interface Aspect {
  /** As a person writes it. */
  readonly level: string;
  /** In full: equal levels can hide different contents. */
  readonly content: string;
}

/** Everything in which two arms can differ, by settings key, `profile` and `budget`. */
function aspectsOf({ written, profile, budget }: Omit<Arm, "factors">): Readonly<Record<string, Aspect>> {
  const aspects: Record<string, Aspect> = {};
  for (const key of settingKeys) aspects[key] = plain(String(written[key]));
  if (budget !== "untold" && budget.finalizationReserve !== null) {
    aspects["finalization_reserve_seconds"] = plain(String(inSeconds(budget.finalizationReserve)));
  }
  aspects["profile"] = { level: profile.profile, content: JSON.stringify(profile) };
  aspects["budget"] = plain(budgetInWords(budget));
  return aspects;
}

const plain = (level: string): Aspect => ({ level, content: level });

/** `told`, `untold`, or how many seconds are told. */
export function budgetInWords(budget: Budget): string {
  if (budget === "untold") return "untold";
  return budget.runBudget === null ? "told" : String(inSeconds(budget.runBudget));
}

/** What arms differ in without it being declared, each as the rest of a sentence that begins with `factors`. */
export function undeclaredDifferences(arms: readonly Arm[], factors: readonly string[]): readonly string[] {
  const declared = new Set<string | null>(factors.map(factorAspect));
  const all = arms.map((arm) => ({ arm: arm.arm, aspects: aspectsOf(arm) }));
  const [first] = all;
  if (first === undefined) return [];
  return Object.keys(first.aspects)
    .filter((aspect) => !declared.has(aspect))
    .filter((aspect) => new Set(all.map(({ aspects }) => aspects[aspect]!.content)).size > 1)
    .map((aspect) => {
      const levels = [...new Set(all.map(({ aspects }) => aspects[aspect]!.level))];
      const told = levels.map((level) => {
        const those = all.filter(({ aspects }) => aspects[aspect]!.level === level);
        return `${level} in ${listed(those.map(({ arm }) => arm))}`;
      });
      return `leaves out ${factorName(aspect)}, and arms differ in ${aspect}: ${listed(told)}; declare it, or make them equal`;
    });
}
