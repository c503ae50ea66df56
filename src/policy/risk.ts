/**
 * Risk caps: a shorter auto-await for commands that are likely to hang.
 *
 * Advisory, always. A risk is a guess from the command line, or from how late it is, so all that it may do is to give
 * control back earlier: nothing is stopped or refused for it, and no initial hold is cut.
 */
import { type RunBudget, remaining } from "./budget.ts";
import { type CommandRisk, LINE_RISKS, lineRisks } from "./command.ts";
import type { Settings } from "./settings.ts";
import { type Duration, type Instant, shorter } from "./time.ts";

/** The risks that have a cap. */
export const CAPPED_RISKS = [...LINE_RISKS, "late_in_run"] as const satisfies readonly CommandRisk[];
export type CappedRisk = (typeof CAPPED_RISKS)[number];

/** The setting that holds a risk's cap. */
const CAPS = {
  full_test_suite: "riskCapFullTestSuite",
  watch_or_server: "riskCapWatchOrServer",
  daemon: "riskCapDaemon",
  late_in_run: "riskCapLateInRun",
} as const satisfies Record<CappedRisk, keyof Settings>;

export interface RiskCap {
  /** Counted from the command's start. */
  readonly length: Duration;
  /** Every risk whose cap it is. */
  readonly risks: readonly CappedRisk[];
}

/**
 * The shortest of the caps of a command's risks; null if it has none, or risk does not count.
 *
 * How late it is counts only where auto-await is aware of the budget: whoever is not knows of no end.
 *
 * @param now when auto-await is granted
 */
export function riskCap(line: string, now: Instant, settings: Settings, budget: RunBudget | null): RiskCap | null {
  if (settings.autoAwaitRisk === "off") return null;
  const found: readonly CappedRisk[] = [
    ...lineRisks(line),
    ...(isLate(now, settings, budget) ? (["late_in_run"] as const) : []),
  ];
  const caps = found.flatMap((risk) => settings[CAPS[risk]] ?? []);
  if (caps.length === 0) return null;
  const length = caps.reduce(shorter);
  return { length, risks: found.filter((risk) => settings[CAPS[risk]] === length) };
}

function isLate(now: Instant, settings: Settings, budget: RunBudget | null): boolean {
  if (budget === null || !settings.foregroundAutoAwaitBudgetAware) return false;
  return remaining(budget, now) < budget.length * settings.riskLateInRunFraction;
}
