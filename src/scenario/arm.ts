/**
 * Arms, resolved: what a policy file, an arm and a command line say, laid one upon the other.
 *
 * A panel names its factors, and its arms may differ in nothing else. It is the resolved arms that are compared, for
 * two policies can differ in more than their names let on.
 */
import type { CacheTerms } from "../agent/context.ts";
import type { CutReach } from "../agent/effects.ts";
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
import type { HostTerms } from "../world/host.ts";
import type { Budget } from "./convert.ts";
import { listed, nearest } from "./fault.ts";
import type { ModelProvider } from "./situation.ts";

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
  /** Null: requests take what the model takes, and nobody counts tokens. */
  readonly provider: ModelProvider | null;
  /** Null: each command runs as if alone. */
  readonly host: HostTerms | null;
  /** What the harness reaches when it cuts a trial off. */
  readonly cutReaches: CutReach;
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

/** Factors of policy and model that have a word of their own. */
export const factorWords = ["policy", "cap", "habit", "slice", "budget", "reserve"] as const;

/** Factors of what is around policy and model: the arm's provider, the host that its commands run on, and the outer harness. */
export const worldFactors = [
  "provider",
  "provider_speed",
  "price",
  "cache_lifetime",
  "command_speed",
  "cores",
  "cut_reaches",
] as const;
export type WorldFactor = (typeof worldFactors)[number];

export const everyFactor: readonly string[] = [...factorWords, ...worldFactors, ...settingKeys];

/** What a factor's name stands for: a settings key, `policy`, `profile`, `budget`, or part of the world; null if it is no factor. */
export function factorAspect(name: string): SettingKey | "policy" | "profile" | "budget" | WorldFactor | null {
  if (name === "habit") return "profile";
  if (name === "policy" || name === "budget") return name;
  if ((worldFactors as readonly string[]).includes(name)) return name as WorldFactor;
  const key = Object.hasOwn(FACTOR_SETTINGS, name) ? FACTOR_SETTINGS[name]! : name;
  return (settingKeys as readonly string[]).includes(key) ? (key as SettingKey) : null;
}

/** Why a name is no factor. */
export function notAFactor(name: string): string {
  const near = nearest(name, everyFactor);
  return `is not a factor; ${near === null ? `factors are ${listed([...factorWords, ...worldFactors])}, and every settings key` : `did you mean ${near}?`}`;
}

/** The short name of what arms differ in, where it has one. */
function factorName(aspect: string): string {
  if (aspect === "profile") return "habit";
  return Object.entries(FACTOR_SETTINGS).find(([, key]) => key === aspect)?.[0] ?? aspect;
}

/** What factors change of a provider; left out: it is as its file says. */
export interface ProviderChanges {
  readonly speed?: number;
  /** A factor on both prices. */
  readonly price?: number;
  readonly cacheLifetime?: Duration;
}

/** Why a provider cannot be changed so, as the rest of a sentence; null if it can. */
export function impossibleChange(provider: ModelProvider | null, changes: ProviderChanges): string | null {
  const changed = [
    ...(changes.speed === undefined ? [] : ["provider_speed"]),
    ...(changes.price === undefined ? [] : ["price"]),
    ...(changes.cacheLifetime === undefined ? [] : ["cache_lifetime"]),
  ];
  if (changed.length === 0) return null;
  if (provider === null) {
    return `changes ${listed(changed)} where an arm has no provider: expected one in the panel, or in the arm itself`;
  }
  const { cacheLifetime } = changes;
  if (cacheLifetime === undefined) return null;
  const { cache } = provider.economy;
  if (cache === null)
    return `changes cache_lifetime where ${provider.provider} keeps no cache: expected a provider with one`;
  if (cache.mode === "decay" && cacheLifetime >= cache.gone) {
    return `changes cache_lifetime to ${inSeconds(cacheLifetime)}: expected less than ${inSeconds(cache.gone)}, where the cache of ${provider.provider} is gone`;
  }
  return null;
}

function changedProvider(provider: ModelProvider, { speed, price, cacheLifetime }: ProviderChanges): ModelProvider {
  const { terms, economy } = provider;
  return {
    ...provider,
    terms: speed === undefined ? terms : { ...terms, speed },
    economy: {
      price:
        price === undefined
          ? economy.price
          : { input: economy.price.input * price, output: economy.price.output * price },
      cache:
        economy.cache === null || cacheLifetime === undefined ? economy.cache : living(economy.cache, cacheLifetime),
    },
  };
}

function living(cache: CacheTerms, lifetime: Duration): CacheTerms {
  return { ...cache, lifetime, gone: cache.mode === "hard" ? lifetime : cache.gone };
}

/** What an arm is made of, before anything is resolved. */
export interface ArmParts {
  readonly arm: string;
  readonly says: string;
  readonly policy: string;
  readonly profile: Profile;
  readonly budget: Budget;
  /** As its file says. */
  readonly provider: ModelProvider | null;
  readonly changes: ProviderChanges;
  readonly host: HostTerms | null;
  readonly cutReaches: CutReach;
  /** Later ones win; the policy's own first. */
  readonly layers: readonly WrittenSettings[];
}

/** An arm, and everything in which it can differ from another. */
export interface Resolved {
  readonly arm: Arm;
  readonly aspects: Aspects;
}

/** @param factors names of the declared factors */
export function resolved({ layers, changes, ...parts }: ArmParts, factors: readonly string[]): Resolved {
  const settings = settingsOf(...layers);
  const provider = parts.provider && changedProvider(parts.provider, changes);
  const bare = { ...parts, provider, settings, written: written(settings) };
  const aspects = aspectsOf(bare, written(settingsOf(...layers.slice(0, 1))), parts.provider, changes);
  const levels = Object.fromEntries(factors.map((name) => [name, aspects[factorAspect(name)!]!.level]));
  return { arm: { ...bare, factors: levels }, aspects };
}

interface Aspect {
  /** As a person writes it. */
  readonly level: string;
  /** In full: equal levels can hide different contents. */
  readonly content: string;
  /** The same where the whole policy is a factor: what its file says is then no difference of its own. */
  readonly besidePolicy?: string;
}

/** By settings key, `policy`, `profile`, `budget`, and the factors of the world. */
type Aspects = Readonly<Record<string, Aspect>>;

/** @param ofPolicy settings as the policy's file alone would have them */
function aspectsOf(
  { written, policy, profile, budget, provider, host, cutReaches }: Omit<Arm, "factors">,
  ofPolicy: Required<WrittenSettings>,
  asFiled: ModelProvider | null,
  changes: ProviderChanges,
): Aspects {
  // The name of a policy is no difference: what it says is, setting by setting.
  const aspects: Record<string, Aspect> = { policy: { level: policy, content: AS_FILED } };
  for (const key of settingKeys) {
    const level = String(written[key]);
    aspects[key] = { level, content: level, besidePolicy: written[key] === ofPolicy[key] ? AS_FILED : level };
  }
  if (budget !== "untold" && budget.finalizationReserve !== null) {
    aspects["finalization_reserve_seconds"] = plain(String(inSeconds(budget.finalizationReserve)));
  }
  aspects["profile"] = { level: profile.profile, content: JSON.stringify(profile) };
  aspects["budget"] = plain(budgetInWords(budget));
  aspects["cut_reaches"] = plain(cutReaches);
  return { ...aspects, ...providerAspects(provider, asFiled, changes), ...hostAspects(host) };
}

const plain = (level: string): Aspect => ({ level, content: level });

/** A provider as its file says is one thing, and what factors change of it are others. */
function providerAspects(
  provider: ModelProvider | null,
  asFiled: ModelProvider | null,
  { price = 1 }: ProviderChanges,
): Readonly<Record<Exclude<WorldFactor, "command_speed" | "cores" | "cut_reaches">, Aspect>> {
  if (provider === null || asFiled === null) {
    return { provider: plain("none"), provider_speed: NONE, price: NONE, cache_lifetime: NONE };
  }
  const { terms, economy, scope } = asFiled;
  return {
    provider: { level: asFiled.provider, content: JSON.stringify([terms, economy, scope]) },
    provider_speed: changed(String(provider.terms.speed), String(terms.speed)),
    price: changed(String(price), "1"),
    cache_lifetime: changed(lifetimeInWords(provider), lifetimeInWords(asFiled)),
  };
}

/** As its file says: whatever that is, it is no difference of its own. */
const AS_FILED = "as its file says";
const NONE: Aspect = { level: "none", content: AS_FILED };

function changed(level: string, filed: string): Aspect {
  return { level, content: level === filed ? AS_FILED : level };
}

function lifetimeInWords({ economy: { cache } }: ModelProvider): string {
  return cache === null ? "none" : String(inSeconds(cache.lifetime));
}

function hostAspects(host: HostTerms | null): Readonly<Record<"command_speed" | "cores", Aspect>> {
  return { command_speed: plain(String(host?.speed ?? 1)), cores: plain(String(host?.cores ?? "none")) };
}

/** `told`, `untold`, or how many seconds are told. */
export function budgetInWords(budget: Budget): string {
  if (budget === "untold") return "untold";
  return budget.runBudget === null ? "told" : String(inSeconds(budget.runBudget));
}

/** What arms differ in without it being declared, each as the rest of a sentence that begins with `factors`. */
export function undeclaredDifferences(all: readonly Resolved[], factors: readonly string[]): readonly string[] {
  const declared = new Set<string | null>(factors.map(factorAspect));
  const [first] = all;
  if (first === undefined) return [];
  const compared = ({ content, besidePolicy = content }: Aspect) => (declared.has("policy") ? besidePolicy : content);
  return Object.keys(first.aspects)
    .filter((aspect) => !declared.has(aspect))
    .filter((aspect) => new Set(all.map(({ aspects }) => compared(aspects[aspect]!))).size > 1)
    .map((aspect) => {
      const levels = [...new Set(all.map(({ aspects }) => aspects[aspect]!.level))];
      const told = levels.map((level) => {
        const those = all.filter(({ aspects }) => aspects[aspect]!.level === level);
        return `${level} in ${listed(those.map(({ arm }) => arm.arm))}`;
      });
      const what = levels.length === 1 ? `${levels[0]} is not the same in all of them` : listed(told);
      return `leaves out ${factorName(aspect)}, and arms differ in ${aspect}: ${what}; declare it, or make them equal`;
    });
}
