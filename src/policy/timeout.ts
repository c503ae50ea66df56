/**
 * Hard timeouts: the destructive kind.
 *
 * Reaching one ends the command's whole process tree. It has nothing to do with handing control back,
 * except that a foreground command with a hard timeout is usually held until it ends or is ended.
 */
import { type RunBudget, reserveBegins } from "./budget.ts";
import { COMMAND_CLASSES, type CommandClass, commandClass } from "./command.ts";
import { initialTotalBoundary } from "./hold.ts";
import type { SettingKey, Settings } from "./settings.ts";
import {
  after,
  between,
  type Duration,
  earliest,
  type Instant,
  inSeconds,
  latest,
  milliseconds,
  never,
  nothing,
  shorter,
} from "./time.ts";

export const HARD_TIMEOUT_REASONS = ["hard_timeout_max", "remaining_run_budget"] as const;
export type HardTimeoutReason = (typeof HARD_TIMEOUT_REASONS)[number];

export interface HardTimeout {
  /** Counted from the command's start. */
  readonly length: Duration;
  /** Whether the command is held until it ends or is ended, instead of being handed back. */
  readonly suppressesYield: boolean;
  readonly clampReasons: readonly HardTimeoutReason[];
  /** The class of the command, where it is that which has set the length; else left out. */
  readonly commandClass?: CommandClass;
}

export type HardTimeoutDecision =
  | { readonly timeout: HardTimeout | null }
  /** Not clamped but refused, so that no command is killed at a limit its caller did not choose. */
  | { readonly refused: string };

export interface TimeoutCall {
  /** As the caller named it; null if it named none. */
  readonly requested: Duration | null;
  readonly background: boolean;
  readonly startedAt: Instant;
  /** The command line, where hard timeouts go by class; left out: nothing is known of it, and its class is `default`. */
  readonly line?: string;
}

/** The setting that holds the hard timeout of a class, inside and on paper. */
const CLASS_SETTINGS = {
  test: ["hardTimeoutTest", "hard_timeout_test_seconds"],
  build: ["hardTimeoutBuild", "hard_timeout_build_seconds"],
  network: ["hardTimeoutNetwork", "hard_timeout_network_seconds"],
  default: ["hardTimeoutOther", "hard_timeout_other_seconds"],
} as const satisfies Record<CommandClass, readonly [keyof Settings, SettingKey]>;

/** The hard timeout of each class; null: it has none of its own. */
export function classTimeouts(settings: Settings): Readonly<Record<CommandClass, Duration | null>> {
  return Object.fromEntries(COMMAND_CLASSES.map((name) => [name, settings[CLASS_SETTINGS[name][0]]])) as Record<
    CommandClass,
    Duration | null
  >;
}

interface ClassTimeout {
  readonly commandClass: CommandClass;
  readonly length: Duration;
}

/** What the class of a command gives it; null where classes do not count, or this one has no timeout of its own. */
function classTimeout(line: string, settings: Settings): ClassTimeout | null {
  if (!settings.hardTimeoutByClass) return null;
  const lengths = classTimeouts(settings);
  const limits = Object.fromEntries(
    COMMAND_CLASSES.map((name) => [name, lengths[name] ?? milliseconds(never)]),
  ) as Record<CommandClass, Duration>;
  const found = commandClass(line, limits);
  const length = lengths[found];
  return length === null ? null : { commandClass: found, length };
}

/**
 * What hard timeout a command runs under: what its caller names, else that of its class, else the default. A background
 * command has one only if its caller names it.
 */
export function hardTimeout(call: TimeoutCall, settings: Settings, budget: RunBudget | null): HardTimeoutDecision {
  const { line = "" } = call;
  const ofClass = call.requested === null && !call.background ? classTimeout(line, settings) : null;
  const wished = call.requested ?? ofClass?.length ?? (call.background ? null : settings.hardTimeoutDefault);
  if (wished === null) return { timeout: null };
  const most = settings.hardTimeoutMax;
  const tooLong = most !== null && wished > most;
  if (wished <= nothing || (tooLong && settings.hardTimeoutOutOfRange === "refuse")) {
    const expected = `expected more than 0${most === null ? "" : `, up to ${inSeconds(most)}`}`;
    if (ofClass !== null) return { refused: `${ofItsClass(ofClass)}: ${expected}` };
    const otherwise = call.background ? null : classTimeout(line, settings);
    const leftOut =
      otherwise === null || (most !== null && otherwise.length > most)
        ? ""
        : `; left out, it is ${inSeconds(otherwise.length)}, as of class ${otherwise.commandClass}`;
    return { refused: `timeout_seconds is ${inSeconds(wished)}: ${expected}${leftOut}` };
  }
  const asked = after(call.startedAt, wished);
  const longest = tooLong ? after(call.startedAt, most) : asked;
  const reserve =
    settings.hardTimeoutBudgetAware && budget !== null ? latestStop(call.startedAt, settings, budget) : asked;
  const cut = earliest(longest, reserve);
  // As with holds: a bound is a reason when it cuts what was asked, and two at one moment are both named.
  const clampReasons: HardTimeoutReason[] = [];
  if (cut < asked && longest === cut) clampReasons.push("hard_timeout_max");
  if (cut < asked && reserve === cut) clampReasons.push("remaining_run_budget");
  return {
    timeout: {
      length: between(call.startedAt, cut),
      suppressesYield: settings.hardTimeoutSuppressesYield && !call.background,
      clampReasons,
      ...(ofClass === null ? null : { commandClass: ofClass.commandClass }),
    },
  };
}

/** The hard timeout of a command where there is nothing but the foreground: cut to its maximum, never refused. */
export function foregroundOnlyTimeout(requested: Duration | null, settings: Settings): HardTimeout {
  const { foregroundOnlyTimeoutDefault: usual, foregroundOnlyTimeoutMax: most } = settings;
  const wished = requested === null || requested <= nothing ? usual : requested;
  return {
    length: shorter(wished, most),
    suppressesYield: true,
    clampReasons: wished > most ? ["hard_timeout_max"] : [],
  };
}

/** The settings of one call whose timeout is the cap of its hold: nothing else brings it back before, unless its client must. */
export function handingOver(length: Duration, settings: Settings): Settings {
  const total = settings.maxHold === null ? length : shorter(length, settings.maxHold);
  return { ...settings, foregroundIdleYield: null, foregroundTotalYield: total, foregroundAutoAwaitMax: length };
}

function ofItsClass({ commandClass: found, length }: ClassTimeout): string {
  return `${CLASS_SETTINGS[found][1]}, the hard timeout of class ${found}, is ${inSeconds(length)}`;
}

/**
 * After how long a command is ended whatever it does, counted from its start: the earlier of its hard and its total timeout,
 * or in the background, where it has none of its own, of the watchdog; null: never. A hard timeout that waits for silence is
 * over, silence or not, once it has waited for so long.
 */
export function endsAfter(timeout: HardTimeout | null, settings: Settings, background = false): Duration | null {
  const { totalTimeout: total, hardTimeoutStall: stall, hardTimeoutStallMax: most, backgroundWatchdog } = settings;
  const watchdog = background ? backgroundWatchdog : null;
  if (timeout === null) return total === null || watchdog === null ? (total ?? watchdog) : shorter(total, watchdog);
  const hard = stall === null ? timeout.length : milliseconds(timeout.length + most);
  return total === null ? hard : shorter(hard, total);
}

/** A silence that ends a command: of so long, once it has run for so long. */
export interface SilenceLimit {
  /** Counted from the command's start. */
  readonly from: Duration;
  readonly length: Duration;
}

/** Which silences end a command; none: it may be silent for as long as it runs. */
export function silenceLimits(timeout: HardTimeout | null, settings: Settings): readonly SilenceLimit[] {
  const { inactivityKill: idle, hardTimeoutStall: stall } = settings;
  const inactive = idle === null ? [] : [{ from: nothing, length: idle }];
  if (timeout === null || stall === null) return inactive.length === 0 ? NO_SILENCES : inactive;
  return [...inactive, { from: timeout.length, length: stall }];
}

const NO_SILENCES: readonly SilenceLimit[] = [];

/** Where the reserve begins, but never so early that a command is killed before its initial hold could end. */
function latestStop(startedAt: Instant, settings: Settings, budget: RunBudget): Instant {
  return latest(reserveBegins(budget), initialTotalBoundary(startedAt, settings));
}
