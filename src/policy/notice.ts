/**
 * Messages to a model that nobody asked for: when each is due, when it is put off, and how much one may say.
 *
 * They stand in for looking. A look costs a whole request and mostly finds nothing; a message costs a few tokens at the end
 * of the conversation, where they leave the cached prefix as it is. So a message is short, carries no output, is told
 * once, and wakes a model only so often.
 */
import { COMMAND_CLASSES, type CommandClass, commandClass } from "./command.ts";
import type { Settings } from "./settings.ts";
import { after, between, type Duration, type Instant, inSeconds, milliseconds, never, seconds } from "./time.ts";

export const MESSAGE_KINDS = ["notice", "reminder", "hint", "heartbeat", "deadline_notice", "wrap_up"] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

export const HINTS = ["repeated_read", "quiet_polls"] as const;
/** What a result points out beside what was asked: that the same was read twice, or that nothing has come for long. */
export type Hint = (typeof HINTS)[number];

/** Whether a model is ever told of its background commands without having asked. */
export function tellsOfProcesses({ completionNotice, unreadReminderSteps, heartbeat }: Settings): boolean {
  return completionNotice !== "none" || unreadReminderSteps !== null || heartbeat;
}

/** Whether a result may point out something beside what was asked. */
export function hints({ repeatedReadHint, quietPollHintAfter }: Settings): boolean {
  return repeatedReadHint || quietPollHintAfter !== null;
}

// Wake-ups

/** The wake-ups that still count, in order; and where windows are fixed, when this one began. */
export interface Wakes {
  readonly began: Instant | null;
  readonly at: readonly Instant[];
}

export const noWakes: Wakes = { began: null, at: [] };

type WindowTerms = Pick<Settings, "noticeWindow" | "noticeWindowLength" | "noticeWakes">;

/** The earliest moment from now on at which the window has a place for one more. */
export function mayWakeAt(wakes: Wakes, now: Instant, terms: WindowTerms): Instant {
  const { began, at } = stillCounting(wakes, now, terms);
  if (at.length < terms.noticeWakes) return now;
  // A fixed window ends for all of them at once; in a sliding one the places come back one by one.
  const oldest = terms.noticeWindow === "fixed" ? began! : at[at.length - terms.noticeWakes]!;
  return after(oldest, terms.noticeWindowLength);
}

/** Takes a place in the window. A fixed one begins with the first. */
export function reserved(wakes: Wakes, now: Instant, terms: WindowTerms): Wakes {
  const { began, at } = stillCounting(wakes, now, terms);
  return { began: began ?? now, at: [...at, now] };
}

/** The wake-up came to nothing, so its place is free again. A fixed window stays the one it was. */
export function givenBack({ began, at }: Wakes): Wakes {
  return { began, at: at.slice(0, -1) };
}

function stillCounting(wakes: Wakes, now: Instant, { noticeWindow, noticeWindowLength: length }: WindowTerms): Wakes {
  if (noticeWindow === "fixed") {
    return wakes.began === null || after(wakes.began, length) <= now ? noWakes : wakes;
  }
  return { began: null, at: wakes.at.filter((at) => after(at, length) > now) };
}

// Deliveries that fail

const FIRST_RETRIES = [seconds(1), seconds(2), seconds(5)] as const;
const LATER_RETRY = seconds(60);
const LONGEST_RETRY = seconds(300);

/** How long after its nth failure, counted from 1, a delivery is tried again. */
export function retryAfter(failures: number): Duration {
  const quick = FIRST_RETRIES[failures - 1];
  if (quick !== undefined) return quick;
  // No further than it takes to reach the longest, or the doubling would leave whole numbers behind.
  const doublings = Math.min(failures - FIRST_RETRIES.length - 1, 10);
  return milliseconds(Math.min(LATER_RETRY * 2 ** doublings, LONGEST_RETRY));
}

/** When a delivery that has just failed is tried again; null: no more. */
export function triedAgainAt(failures: number, first: Instant, now: Instant, settings: Settings): Instant | null {
  const again = after(now, retryAfter(failures));
  const { deliveryGivesUpAfter: most } = settings;
  return most !== null && again > after(first, most) ? null : again;
}

// What fits

/** How many bytes a text takes as UTF-8. */
export function utf8Length(text: string): number {
  let length = 0;
  for (const character of text) length += widthOf(character.codePointAt(0)!);
  return length;
}

function widthOf(codePoint: number): number {
  return codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
}

const ELLIPSIS = "…";
const unprintable = /[\p{Cc}\p{Cs}]/gu;

/** A command line as a message quotes it: no control characters, and cut at a character with an ellipsis where it is too long. */
export function described(line: string, { noticeDescriptionBytes: most }: Pick<Settings, "noticeDescriptionBytes">) {
  const plain = line.replace(unprintable, " ");
  if (utf8Length(plain) <= most) return plain;
  let length = utf8Length(ELLIPSIS);
  let kept = "";
  for (const character of plain) {
    length += widthOf(character.codePointAt(0)!);
    if (length > most) break;
    kept += character;
  }
  return kept + ELLIPSIS;
}

/** What a completion notice says of one command. */
export interface Told {
  readonly process_id: string;
  readonly status: string;
  readonly description: string;
  readonly ended_seconds: number;
}

/** Those of several that one notice takes, first come first; the first always. */
export function batched<Finished>(
  finished: readonly Finished[],
  told: (finished: Finished) => Told,
  { noticeBatchTasks, noticeBatchBytes }: Pick<Settings, "noticeBatchTasks" | "noticeBatchBytes">,
): readonly Finished[] {
  let size = utf8Length(noticeText([]));
  let count = 0;
  for (const each of finished) {
    if (count === noticeBatchTasks) break;
    size += utf8Length(JSON.stringify(told(each))) + (count === 0 ? 0 : 1);
    if (count > 0 && size > noticeBatchBytes) break;
    count += 1;
  }
  return finished.slice(0, count);
}

export function noticeText(told: readonly Told[]): string {
  return JSON.stringify({ finished: told });
}

/** @param oldest as many as are named; `unread` is how many there are */
export function reminderText(oldest: readonly Told[], unread: number): string {
  return JSON.stringify({ unread_results: oldest, unread_in_all: unread });
}

export function heartbeatText(name: string, description: string, elapsed: Duration, usual: Duration): string {
  return JSON.stringify({
    still_running: {
      process_id: name,
      description,
      elapsed_seconds: inSeconds(elapsed),
      usual_seconds: inSeconds(usual),
    },
  });
}

// Commands that take long

const USUAL = {
  test: "usualLengthTest",
  build: "usualLengthBuild",
  network: "usualLengthNetwork",
  default: "usualLengthOther",
} as const satisfies Record<CommandClass, keyof Settings>;

/** How long a command of this line's class usually takes; null where the policy does not say. */
export function usualLength(line: string, settings: Settings): Duration | null {
  const limits = Object.fromEntries(
    COMMAND_CLASSES.map((name) => [name, settings[USUAL[name]] ?? milliseconds(never)]),
  ) as Record<CommandClass, Duration>;
  return settings[USUAL[commandClass(line, limits)]];
}

/** When a command that still runs is overdue; `never` where nobody says how long it usually takes, or would be told. */
export function overdueAt(line: string, startedAt: Instant, settings: Settings): Instant {
  if (!settings.heartbeat) return never;
  const usual = usualLength(line, settings);
  return usual === null ? never : after(startedAt, usual);
}

// Looks that find nothing

/** Looks in a row at one live process that have found nothing new. */
export interface QuietLooks {
  readonly count: number;
  /** Those of them since the last hint about it. */
  readonly unhinted: number;
  /** Since when it has been silent: from its last output, or its start. */
  readonly silentSince: Instant;
  /** Whether the look before, in the whole session, was at the same and found the same, and was no wait that ran out. */
  readonly repeated: boolean;
}

/** What a look that finds nothing new is to point out; null: nothing. */
export function hintFor(
  { unhinted, silentSince, repeated }: QuietLooks,
  now: Instant,
  settings: Settings,
): Hint | null {
  const { quietPollHintAfter: most, quietPollHintFloor: floor } = settings;
  if (most !== null && unhinted >= most && between(silentSince, now) >= floor) return "quiet_polls";
  return settings.repeatedReadHint && repeated ? "repeated_read" : null;
}

/** @param name of the process, as results spell it */
export function hintText(
  hint: Hint,
  name: string,
  { count, silentSince }: QuietLooks,
  now: Instant,
  settings: Settings,
) {
  const isTold = settings.completionNotice !== "none";
  const meanwhile = isTold ? "You are told when it ends: do something else until then" : "Do something else meanwhile";
  switch (hint) {
    case "repeated_read":
      return `Nothing has changed since your last look at ${name}. ${meanwhile}, or wait for it with wait_sec; do not look again at once.`;
    case "quiet_polls":
      return (
        `${count} looks at ${name} in a row have found nothing new, and it has been silent for ${inSeconds(between(silentSince, now))} s. ` +
        `It may be stuck: process(action: "stop", process_id: "${name}") ends it. Stop it and try another way, unless you know why it takes so long.`
      );
  }
}
