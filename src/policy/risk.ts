/**
 * Risk caps: a shorter auto-await for commands that are likely to hang.
 *
 * Advisory, always. A risk is a guess from the command line, from its silence, or from how late it is, so all that it may do is to give
 * control back earlier: nothing is stopped or refused for it, and no initial hold is cut.
 */
import { type RunBudget, remaining } from "./budget.ts";
import { type CommandRisk, LINE_RISKS, lineRisks } from "./command.ts";
import { usualLength } from "./notice.ts";
import type { Settings } from "./settings.ts";
import { type Duration, type Instant, milliseconds, shorter } from "./time.ts";

/** The risks that have a cap. */
export const CAPPED_RISKS = [
  ...LINE_RISKS,
  "quiet",
  "overdue",
  "late_in_run",
] as const satisfies readonly CommandRisk[];
export type CappedRisk = (typeof CAPPED_RISKS)[number];

/** What there is to be seen of a command when its initial hold has ended without it. */
export interface Outlived {
  readonly line?: string;
  /** When auto-await is granted. */
  readonly boundary: Instant;
  readonly lastOutputAt: Instant | null;
}

/** The setting that holds a risk's cap. */
const CAPS = {
  full_test_suite: "riskCapFullTestSuite",
  watch_or_server: "riskCapWatchOrServer",
  daemon: "riskCapDaemon",
  quiet: "riskCapQuiet",
  overdue: "riskCapOverdue",
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
 */
export function riskCap(command: Outlived, settings: Settings, budget: RunBudget | null): RiskCap | null {
  if (settings.autoAwaitRisk === "off") return null;
  const { line = "", boundary, lastOutputAt } = command;
  const found: readonly CappedRisk[] = [
    ...lineRisks(line),
    ...(lastOutputAt === null && !settings.foregroundAutoAwaitExtendsOnOutput ? (["quiet"] as const) : []),
    "overdue",
    ...(isLate(boundary, settings, budget) ? (["late_in_run"] as const) : []),
  ];
  const caps = found.flatMap((risk) => {
    const length = capOf(risk, line, settings);
    return length === null ? [] : [{ risk, length }];
  });
  if (caps.length === 0) return null;
  const length = caps.map((cap) => cap.length).reduce(shorter);
  return { length, risks: caps.filter((cap) => cap.length === length).map(({ risk }) => risk) };
}

/** Counted from the command's start. Every command is overdue in time, if it has a usual length: so far it is held, and no further. */
function capOf(risk: CappedRisk, line: string, settings: Settings): Duration | null {
  const cap = settings[CAPS[risk]];
  if (risk !== "overdue" || cap === null) return cap;
  const usual = usualLength(line, settings);
  return usual === null ? null : milliseconds(usual + cap);
}

function isLate(now: Instant, settings: Settings, budget: RunBudget | null): boolean {
  if (budget === null || !settings.foregroundAutoAwaitBudgetAware) return false;
  return remaining(budget, now) < budget.length * settings.riskLateInRunFraction;
}
