/**
 * Which commands a shell takes on at all, and which of them it never hands over.
 *
 * All of it is off by default. A runtime may limit how often it is called, how many processes it keeps and how long a
 * command may begin by sleeping; and one without a tool to read results with has to end what it holds.
 */
import { runsProgram } from "./command.ts";
import type { Settings } from "./settings.ts";
import { after, type Duration, type Instant, latest, seconds } from "./time.ts";

/** Whether a shell takes on whatever it is given, as it is given: nothing of this file then concerns it. */
export function takesAll(settings: Settings): boolean {
  return (
    settings.shellCallsPerMinute === null &&
    settings.shellCallsPerTen === null &&
    settings.leadingSleepRefused === null &&
    settings.duplicateStart === "allow" &&
    settings.processSlots === null &&
    settings.timeoutStrikes === null &&
    settings.commandTimeMax === null &&
    settings.withoutReader === "ignore" &&
    !settings.exclusiveShell
  );
}

const SLEEP = /^\s*sleep\s+(\d+(?:\.\d+)?)([smhd]?)(?![\w.])/;
const UNITS: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3_600, d: 86_400 };

/** How long a command sleeps before it does anything else; null: it does not begin by sleeping. */
export function leadingSleep(line: string): Duration | null {
  const found = SLEEP.exec(line);
  return found === null ? null : seconds(Number(found[1]) * UNITS[found[2]!]!);
}

/** Whether a command is ended at the cap of its hold where others are handed over. */
export function isNeverHandedOver(line: string, settings: Settings): boolean {
  if (settings.handOverExempts === "nothing") return false;
  return /^\s*sleep\b/.test(line) || runsProgram(line, "git");
}

const MINUTE = seconds(60);
const TEN_SECONDS = seconds(10);

/**
 * When a caller may come back that has called too often; null: it may call now.
 *
 * @param calls when those were made that were carried out, in order of time
 */
export function comeBackAt(calls: readonly Instant[], now: Instant, settings: Settings): Instant | null {
  const { shellCallsPerMinute: minute, shellCallsPerTen: tenSeconds } = settings;
  const at = latest(freeAt(calls, minute, MINUTE, now), freeAt(calls, tenSeconds, TEN_SECONDS, now));
  return at > now ? at : null;
}

/** When the oldest of the last so many calls lies so far back that there is room for one more. */
function freeAt(calls: readonly Instant[], most: number | null, span: Duration, now: Instant): Instant {
  if (most === null || calls.length < most) return now;
  return after(calls[calls.length - most]!, span);
}

/** A process that takes a slot. */
export interface Kept<Process> {
  readonly is: Process;
  /** The number of the last call that was about it. */
  readonly lastCall: number;
  readonly ended: boolean;
}

/**
 * Which processes make room for one more, in this order; null: there is no room to be had.
 *
 * What has ended goes first, and what was used last stays longest.
 */
export function makesRoom<Process>(kept: readonly Kept<Process>[], settings: Settings): readonly Process[] | null {
  const { processSlots: slots, processSlotsFull: full, processSlotsProtected: safe } = settings;
  if (slots === null || kept.length < slots) return NONE;
  const byUse = [...kept].sort((one, other) => one.lastCall - other.lastCall);
  const open = full === "prune" ? byUse.slice(0, Math.max(byUse.length - safe, 0)) : byUse;
  const mayGo = [
    ...open.filter(({ ended }) => ended),
    ...(full === "prune" ? open.filter(({ ended }) => !ended) : NONE),
  ];
  const many = kept.length - slots + 1;
  return mayGo.length < many ? null : mayGo.slice(0, many).map(({ is }) => is);
}

const NONE: readonly never[] = [];
