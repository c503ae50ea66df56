/**
 * Everything a policy can be told, in one plain table.
 *
 * The key is the wire name: configuration files, `explain`, the `arms` table and the README spell it
 * so. Every other list of settings (the TypeScript type, the file schema, the JSON Schema, the
 * README's table) is derived from this one; a test refuses a second list.
 *
 * Lengths are written in seconds here, as on paper, and become whole milliseconds when a policy is
 * made from them: `foreground_auto_await_max_seconds: 240` is `foregroundAutoAwaitMax: 240000`.
 * `"none"` on paper is `null` inside: this bound does not apply.
 */
import { type Duration, seconds } from "./time.ts";

type Camel<Key extends string> = Key extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Key;

/** `process_wait_slice_seconds` on paper is `processWaitSlice` inside: renamed where it is converted. */
export type Inside<Key extends string> = Camel<Key extends `${infer Stem}_seconds` ? Stem : Key>;

interface Length<Default extends number | "none"> {
  readonly kind: "length";
  readonly unit: "s";
  readonly default: Default;
  /** Smallest and largest value, in seconds, both included. */
  readonly range: readonly [number, number];
  /** Whether `none` may be written: the bound then does not apply. */
  readonly optional: boolean;
  readonly says: string;
}

interface Slice {
  readonly kind: "slice";
  readonly unit: "s";
  readonly default: "auto";
  readonly range: readonly [number, number];
  readonly words: readonly ["auto", "none", "model_cadence"];
  readonly says: string;
}

interface Flag {
  readonly kind: "flag";
  readonly unit: null;
  readonly default: boolean;
  readonly says: string;
}

interface Choice<Word extends string> {
  readonly kind: "choice";
  readonly unit: null;
  readonly default: Word;
  readonly words: readonly Word[];
  readonly says: string;
}

interface Text {
  readonly kind: "text";
  readonly unit: null;
  readonly default: "none";
  /** How many characters it may have. */
  readonly longest: number;
  readonly says: string;
}

interface Amount {
  readonly kind: "amount";
  readonly unit: "bytes" | "share" | "count";
  readonly default: number | "none";
  readonly range: readonly [number, number];
  readonly whole: boolean;
  readonly optional: boolean;
  readonly says: string;
}

export type Setting = Length<number | "none"> | Slice | Flag | Choice<string> | Text | Amount;

/** Ten years: the longest that any length of time here may be, in seconds. Keeps sums of moments exact. */
export const LONGEST_SECONDS = 315_360_000;

/** In seconds: a millisecond, or more. */
const MORE_THAN_NOTHING = [0.001, LONGEST_SECONDS] as const;

const bound = <Default extends number | "none">(
  initial: Default,
  says: string,
  range: readonly [number, number] = [0, LONGEST_SECONDS],
): Length<Default> => ({ kind: "length", unit: "s", default: initial, range, optional: true, says });

const length = (
  initial: number,
  says: string,
  range: readonly [number, number] = [0, LONGEST_SECONDS],
): Length<number> & { readonly optional: false } => ({
  kind: "length",
  unit: "s",
  default: initial,
  range,
  optional: false,
  says,
});

const flag = (initial: boolean, says: string): Flag => ({ kind: "flag", unit: null, default: initial, says });

const choice = <const Word extends string>(words: readonly [Word, ...Word[]], says: string): Choice<Word> => ({
  kind: "choice",
  unit: null,
  default: words[0],
  words,
  says,
});

const bytes = (initial: number, says: string): Amount & { readonly default: number; readonly optional: false } => ({
  kind: "amount",
  unit: "bytes",
  default: initial,
  range: [0, 1_073_741_824],
  whole: true,
  optional: false,
  says,
});

const wholeNumber = (initial: number, says: string, range: readonly [number, number]) =>
  ({ kind: "amount", unit: "count", default: initial, range, whole: true, optional: false, says }) as Amount & {
    readonly default: number;
    readonly optional: false;
  };

const share = (initial: number, says: string) =>
  ({
    kind: "amount",
    unit: "share",
    default: initial,
    range: [0, 1],
    whole: false,
    optional: false,
    says,
  }) as Amount & {
    readonly default: number;
    readonly optional: false;
  };

const shareOrNone = (says: string, most = 1) =>
  ({
    kind: "amount",
    unit: "share",
    default: "none",
    range: [0, most],
    whole: false,
    optional: true,
    says,
  }) as Amount & { readonly default: "none"; readonly optional: true };

const wholeNumberOrNone = (says: string, range: readonly [number, number]) =>
  ({ kind: "amount", unit: "count", default: "none", range, whole: true, optional: true, says }) as Amount & {
    readonly default: "none";
    readonly optional: true;
  };

export const settingsTable = {
  foreground_idle_yield_seconds: bound(
    10,
    "the initial hold ends this long after the last output, or after the start if there was none",
  ),
  foreground_total_yield_seconds: bound(
    30,
    "the initial hold ends this long after the start at the latest, output or not",
  ),
  foreground_auto_await_max_seconds: bound(
    30,
    "cap of the auto-await hold, counted from the command's start; 0 turns auto-await off",
    [0, 3_600],
  ),
  foreground_auto_await_budget_aware: flag(true, "auto-await also ends where the finalization reserve begins"),
  foreground_auto_await_extends_on_output: flag(false, "each output pushes the cap to now + cap"),
  foreground_auto_await_absolute_max_seconds: bound(
    600,
    "where output extends the cap: no later than this after the start, but never under the cap",
  ),
  foreground_at_cap: choice(
    ["yield", "background", "kill"],
    "at the configured cap: hand the live process back; the same, and tell of its end as of a background command's; or end its whole tree",
  ),
  hand_over_exempts: choice(
    ["nothing", "sleep_and_git"],
    "commands that the configured cap ends where it hands others over: those that begin with sleep, or run git",
  ),
  auto_await_risk: choice(
    ["off", "advisory"],
    "whether a command likely to hang is held by auto-await no longer than the cap of its risk; stops nothing",
  ),
  risk_cap_full_test_suite_seconds: bound(
    "none",
    "where risk counts: cap of the auto-await hold of a whole test suite, from its start",
  ),
  risk_cap_watch_or_server_seconds: bound(
    "none",
    "where risk counts: cap of the auto-await hold of a watcher or a server, from its start",
  ),
  risk_cap_daemon_seconds: bound(
    "none",
    "where risk counts: cap of the auto-await hold of a command that leaves something behind, from its start",
  ),
  risk_cap_quiet_seconds: bound(
    "none",
    "where risk counts: cap of the auto-await hold of a command that printed nothing in its initial hold, from its start; not where output extends the cap",
  ),
  risk_cap_overdue_seconds: bound(
    "none",
    "where risk counts: how far beyond the usual length of its class the auto-await hold of a command may last",
  ),
  risk_cap_late_in_run_seconds: bound(
    "none",
    "where risk counts: cap of the auto-await hold late in the run, from the command's start",
  ),
  risk_late_in_run_fraction: share(
    0.25,
    "late in the run is when less than this share of the run budget remains; never where none is told",
  ),
  max_hold_seconds: bound(
    "none",
    "longest hold of one call, counted from the call; for clients that give up on long calls",
    [1, LONGEST_SECONDS],
  ),
  hard_timeout_default_seconds: bound(
    "none",
    "hard timeout of a foreground command that names none",
    MORE_THAN_NOTHING,
  ),
  hard_timeout_by_class: flag(
    false,
    "a foreground command that names no hard timeout has that of its class, which is read from its line",
  ),
  hard_timeout_test_seconds: bound(
    900,
    "hard timeout of a command that runs tests, where it goes by class",
    MORE_THAN_NOTHING,
  ),
  hard_timeout_build_seconds: bound(
    1_800,
    "hard timeout of a command that builds or installs, where it goes by class",
    MORE_THAN_NOTHING,
  ),
  hard_timeout_network_seconds: bound(
    300,
    "hard timeout of a command that uses the network, where it goes by class",
    MORE_THAN_NOTHING,
  ),
  hard_timeout_other_seconds: bound(30, "hard timeout of any other command, where it goes by class", MORE_THAN_NOTHING),
  hard_timeout_max_seconds: bound(3_600, "longest hard timeout that may be asked for", MORE_THAN_NOTHING),
  hard_timeout_out_of_range: choice(["refuse", "clamp"], "what becomes of a hard timeout beyond the maximum"),
  hard_timeout_budget_aware: flag(
    false,
    "a hard timeout also ends where the finalization reserve begins, but not before the initial hold could",
  ),
  hard_timeout_suppresses_yield: flag(true, "a command with a hard timeout is held until it ends or is ended"),
  timeout_hands_over: flag(
    false,
    "a timeout_seconds of a foreground command is no hard timeout but the cap of its hold, where it is handed over alive",
  ),
  hard_timeout_stall_seconds: bound(
    "none",
    "past its hard timeout a command is ended only once it has been silent for this long",
    MORE_THAN_NOTHING,
  ),
  hard_timeout_stall_max_seconds: length(
    600,
    "where a hard timeout waits for silence: the command is ended this long after it at the latest",
  ),
  inactivity_kill_seconds: bound(
    "none",
    "a command is ended once it has been silent for this long, from its start or its last output; holds nothing",
    MORE_THAN_NOTHING,
  ),
  total_timeout_seconds: bound(
    "none",
    "a command is ended this long after its start, in the foreground or the background, whoever looks; holds nothing",
    MORE_THAN_NOTHING,
  ),
  total_timeout_rearms_seconds: bound(
    "none",
    "a command that is handed over alive has this total timeout from then on, in place of the one it had",
    MORE_THAN_NOTHING,
  ),
  without_reader: choice(
    ["ignore", "foreground_only"],
    "where the model has no tool to read results with: as ever, or no background, and every command ended by a timeout",
  ),
  foreground_only_timeout_default_seconds: length(
    120,
    "hard timeout of a command that names none, where there is nothing but the foreground",
    MORE_THAN_NOTHING,
  ),
  foreground_only_timeout_max_seconds: length(
    300,
    "where there is nothing but the foreground: longer hard timeouts are cut to this",
    MORE_THAN_NOTHING,
  ),
  timeout_strikes: wholeNumberOrNone("so many foreground commands in a row ended by a timeout end the run", [1, 1_000]),
  command_time_max_seconds: bound(
    "none",
    "the run ends after the command with which foreground commands have taken so long in all; none is cut short for it",
    MORE_THAN_NOTHING,
  ),
  leading_sleep_refused_seconds: bound(
    "none",
    "a command that begins by sleeping so long, or longer, is refused",
    MORE_THAN_NOTHING,
  ),
  duplicate_start: choice(
    ["allow", "flag", "refuse"],
    "a command of which another run is alive: started like any other, started with a word about that, or refused",
  ),
  exclusive_shell: flag(
    false,
    "a foreground command that was handed back keeps the shell: new ones are refused until it ends or is stopped",
  ),
  process_slots: wholeNumberOrNone("how many processes are kept, those that have ended among them", [1, 100_000]),
  process_slots_full: choice(
    ["refuse", "prune"],
    "where all slots are taken by live processes: refuse the command, or end the one that was used longest ago",
  ),
  process_slots_protected: wholeNumber(8, "where slots are pruned: so many of those used last are safe", [0, 100_000]),
  shell_calls_per_minute: wholeNumberOrNone(
    "beyond so many commands in 60 s one is refused, and told when to come back",
    [1, 1_000_000],
  ),
  shell_calls_per_ten_seconds: wholeNumberOrNone(
    "beyond so many commands in 10 s one is refused, and told when to come back",
    [1, 1_000_000],
  ),
  kill_grace_seconds: length(2, "from TERM to KILL when a process tree is ended", [0, 3_600]),
  kill_reaches: choice(
    ["tree", "group", "process"],
    "how far the end of a command reaches: everything it started, its process group, or its shell alone",
  ),
  completion: choice(
    ["exit", "end_of_output"],
    "when a command is over: its shell has exited and the output was drained, or nobody holds its output open any more",
  ),
  output_on_timeout: choice(
    ["kept", "lost"],
    "whether a command that a hard timeout ended still shows what it printed",
  ),
  process_poll_max_wait_seconds: bound(3_600, "ceiling of one process wait"),
  process_poll_over_max: choice(["clamp", "refuse"], "what becomes of a wait beyond the ceiling"),
  process_poll_min_wait_seconds: length(10, "shorter waits are raised to this; every upper bound beats it", [0, 3_600]),
  process_poll_default_wait_seconds: length(30, "the wait when the model names none", [0, LONGEST_SECONDS]),
  process_wait_slice_seconds: {
    kind: "slice",
    unit: "s",
    default: "auto",
    range: MORE_THAN_NOTHING,
    words: ["auto", "none", "model_cadence"],
    says: "longest stretch of one wait; auto: 240 when a budget is told, else none; model_cadence: as the profile says",
  } as Slice,
  process_wait_budget_aware: flag(true, "a wait also ends where the finalization reserve begins"),
  process_wait_wake_on_output: flag(false, "a wait returns early on new output, after 2 s of quiet"),
  condition_wait_max_seconds: length(
    0,
    "longest wait for a condition in one call, more is refused; 0: there is no such call",
  ),
  condition_wait_default_seconds: length(120, "the wait for a condition when the model names none"),
  condition_wait_budget_aware: flag(true, "a wait for a condition also ends where the finalization reserve begins"),
  condition_probe_every_seconds: length(
    5,
    "how often a condition is looked at when the model does not say",
    [1, 3_600],
  ),
  condition_probe_every_min_seconds: length(5, "the most often that may be asked for, less is refused", [1, 3_600]),
  condition_probe_every_max_seconds: length(60, "the most rarely that may be asked for, more is refused", [1, 3_600]),
  condition_probe_limit_seconds: length(30, "longest that one look may take which runs a command", [1, 3_600]),
  failure_evidence: {
    kind: "text",
    unit: null,
    default: "none",
    longest: 2_000,
    says: "auto-await ends once a line of output holds this text, or one of several: FAILED | Traceback (most recent call last)",
  } as Text,
  failure_evidence_ends_waits: flag(false, "such a line ends a process wait, too"),
  cache_aware_slice: flag(
    false,
    "a hold also ends where the prompt cache would expire, less the time of the next request; not where it has expired",
  ),
  cache_slice_margin_seconds: length(15, "the time of the next request, which the cache has to outlive", [0, 3_600]),
  cache_lifetime_seconds: bound(
    "none",
    "how long the prompt cache lives where no provider says so, from the last result that a model was given",
  ),
  deadline_notice_share: shareOrNone(
    "a model is told once what is left, when so much of the run budget is spent (0.75, say)",
  ),
  deadline_notice_again_share: shareOrNone("and once more, when so much is spent (0.9, say)"),
  wrap_up_in_reserve: flag(false, "a model is told once to wrap up, when the finalization reserve begins"),
  soft_deadline_share: shareOrNone(
    "a child job is told once to write up, when so much of its timeout is spent (0.8, say)",
  ),
  soft_deadline_min_timeout_seconds: length(120, "a job with a shorter timeout is not told"),
  soft_deadline_ends_holds: flag(
    false,
    "a hold of such a job ends where it is to be told, past the initial hold; otherwise it is told when the hold is over",
  ),
  salvages_job_text: flag(
    true,
    "of a job whose time is up what it wrote last is kept, and not only the trail of its calls",
  ),
  joint_ledger: flag(
    false,
    "calls and child jobs side by side draw on one budget: a hold is granted what is left before the reserve, less what the others still hold",
  ),
  user_stop_ends: choice(
    ["session", "turn"],
    "what a user's stop ends: all that runs in the background too, or only what the model is at",
  ),
  exit_waits_for_jobs: flag(
    false,
    "a run that is done is held open for what it still runs, into the reserve of a run budget never; not for what is declared persistent",
  ),
  exit_wait_max_seconds: bound("none", "how long a run is held open at most for what it still runs"),
  clean_exit: choice(
    ["usual", "leave", "reap", "keep_persistent"],
    "what a run that is done does with what it still runs; usual: in a trial whoever grades it finds it, a served session ends it; keep_persistent: ends all that was not declared persistent",
  ),
  exit_grace_seconds: length(0, "from the end of a run until it ends what it still runs", [0, 3_600]),
  completion_notice: choice(
    ["none", "next_step", "wake"],
    "whether a model is told that a background command is over: not at all, before its next step, or also by waking it once it has ended its turn",
  ),
  notice_batch_tasks: wholeNumber(32, "most background commands that one completion notice names", [1, 1_000]),
  notice_batch_bytes: {
    ...bytes(8_192, "most bytes of UTF-8 that one completion notice takes"),
    range: [1_024, 1_048_576],
  } as Amount & { readonly default: number; readonly optional: false },
  notice_description_bytes: {
    ...bytes(256, "most bytes of UTF-8 that a message quotes of a command line, cut at a character"),
    range: [4, 256],
  } as Amount & { readonly default: number; readonly optional: false },
  notice_wakes: wholeNumber(
    3,
    "most times that a session is woken in one window; the rest waits for the next",
    [1, 1_000_000],
  ),
  notice_window_length_seconds: length(60, "length of the window in which wake-ups are counted", MORE_THAN_NOTHING),
  notice_window: choice(
    ["fixed", "sliding"],
    "fixed: a window begins with its first wake-up; sliding: any stretch of its length is one",
  ),
  delivery_gives_up_after_seconds: bound(
    "none",
    "a completion notice that could not wake the model is tried again for so long, counted from the first try; then a reminder is left to tell",
    MORE_THAN_NOTHING,
  ),
  unread_reminder_steps: wholeNumberOrNone(
    "before a step, new results that nobody has read are recalled at once, others every so many steps",
    [1, 1_000_000],
  ),
  unread_reminder_tasks: wholeNumber(5, "most unread results that one reminder names, the oldest first", [1, 1_000]),
  background_watchdog_seconds: bound(
    "none",
    "a command started in the background without a timeout is ended this long after its start",
    MORE_THAN_NOTHING,
  ),
  repeated_read_hint: flag(
    false,
    "a second look in a row that finds the same status and the same output of a live process says that there is something better to do",
  ),
  quiet_poll_hint_after: wholeNumberOrNone(
    "so many looks in a row at a live process that find nothing new say so and point to stop; again after as many more",
    [1, 1_000_000],
  ),
  quiet_poll_hint_floor_seconds: length(
    300,
    "they do not say so before a process has been silent for this long, from its start if it never printed",
  ),
  poll_folding: flag(
    false,
    "looks in a row at one process that find nothing new are kept in the conversation as one; saves tokens, not time",
  ),
  heartbeat: flag(
    false,
    "tells a model once of a background command that still runs past the usual length of its class",
  ),
  usual_length_test_seconds: bound(
    "none",
    "how long a command that runs tests usually takes; what runs longer is overdue",
  ),
  usual_length_build_seconds: bound("none", "how long a command that builds or installs usually takes"),
  usual_length_network_seconds: bound("none", "how long a command that uses the network usually takes"),
  usual_length_other_seconds: bound("none", "how long any other command usually takes"),
  finalization_reserve_seconds: bound(600, "kept at the end of the run for repair, commit and submission"),
  finalization_reserve_fraction: shareOrNone(
    "the reserve as a share of the run budget (0.1, say), instead of a fixed length",
    0.5,
  ),
  finalization_reserve_min_seconds: length(300, "the least that a reserve given as a share comes to"),
  finalization_reserve_max_seconds: length(1_800, "the most that a reserve given as a share comes to"),
  budget_margin_seconds: length(0, "what the harness subtracts from the run budget it tells"),
  remaining_budget_on_results: choice(
    ["when_clamped", "always", "never"],
    "when results say what remains of the run; when_clamped: also always in the last quarter",
  ),
  cpu_on_results: flag(
    false,
    "results about a live process say how many seconds of CPU it has used, where that can be told",
  ),
  output_budget_bytes: bytes(16_000, "output shown by one exec or wait; the middle is elided beyond it"),
  output_head_share: share(0.5, "how much of the output shown is its beginning; the rest is its end"),
  output_retained_bytes: bytes(2_097_152, "output of one process kept in memory by the simulated world"),
  read_output_limit_bytes: bytes(33_000, "most that one read_output returns"),
} as const;

type Table = typeof settingsTable;

export type SettingKey = keyof Table;

/** A setting as a policy holds it: lengths in milliseconds, `none` as null. */
type Held<S> = S extends Flag
  ? boolean
  : S extends Choice<infer Word>
    ? Word
    : S extends Text
      ? string | null
      : S extends Slice
        ? Duration | "auto" | "model_cadence" | null
        : S extends Length<number | "none">
          ? S extends { readonly optional: false }
            ? Duration
            : Duration | null
          : S extends { readonly optional: false }
            ? number
            : number | null;

/** A setting as it stands on paper: lengths in seconds, `none` spelled out. */
type Written<S> = S extends Flag
  ? boolean
  : S extends Choice<infer Word>
    ? Word
    : S extends Text
      ? string
      : S extends Slice
        ? number | "auto" | "none" | "model_cadence"
        : S extends { readonly optional: false }
          ? number
          : number | "none";

/** A policy's settings. Every length is in whole milliseconds; `null` means: this bound does not apply. */
export type Settings = { readonly [Key in SettingKey as Inside<Key>]: Held<Table[Key]> };

/** Settings as files spell them, in seconds; what is missing is the default. */
export type WrittenSettings = { readonly [Key in SettingKey]?: Written<Table[Key]> };

export const settingKeys = Object.keys(settingsTable) as readonly SettingKey[];

/** The inside name of a wire key. */
export function insideName<Key extends SettingKey>(key: Key): Inside<Key> {
  const stem = key.endsWith("_seconds") ? key.slice(0, -"_seconds".length) : key;
  return stem.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) as Inside<Key>;
}

/** Every setting at its default, as on paper. */
export const writtenDefaults = Object.fromEntries(
  settingKeys.map((key) => [key, settingsTable[key].default]),
) as Required<WrittenSettings>;

/**
 * Settings made of layers, later ones winning key by key.
 *
 * The two ways to give a reserve exclude each other, so a layer that names one silences the other in
 * the layers below it. Values are taken as checked: see `settingFault` and `settingsFaults`.
 */
export function settingsOf(...layers: readonly WrittenSettings[]): Settings {
  const written: Record<string, unknown> = { ...writtenDefaults };
  for (const layer of layers) {
    const { finalization_reserve_seconds: fixed, finalization_reserve_fraction: share } = layer;
    if (fixed !== undefined && share === undefined) written["finalization_reserve_fraction"] = "none";
    if (share !== undefined && share !== "none" && fixed === undefined)
      written["finalization_reserve_seconds"] = "none";
    Object.assign(written, layer);
  }
  return Object.fromEntries(
    settingKeys.map((key) => [insideName(key), held(settingsTable[key], written[key])]),
  ) as unknown as Settings;
}

function held(setting: Setting, value: unknown): unknown {
  // Among the words of a choice none is one like the others.
  if (value === "none" && setting.kind !== "choice") return null;
  const isLength = setting.kind === "length" || setting.kind === "slice";
  return isLength && typeof value === "number" ? seconds(value) : value;
}

/** Settings back on paper, complete and in the table's order. */
export function written(settings: Settings): Required<WrittenSettings> {
  return Object.fromEntries(
    settingKeys.map((key) => {
      const value = settings[insideName(key)] as unknown;
      const { kind } = settingsTable[key];
      if (value === null) return [key, "none"];
      return [key, (kind === "length" || kind === "slice") && typeof value === "number" ? value / 1_000 : value];
    }),
  ) as unknown as Required<WrittenSettings>;
}

/** What may be written for a setting, in words. */
export function expected(setting: Setting): string {
  switch (setting.kind) {
    case "flag":
      return "true or false";
    case "choice":
      return setting.words.join(" or ");
    case "text":
      return `text of ${setting.longest} characters at most, in one line, or none`;
    case "slice":
      return `a length of time in seconds (more than 0), or ${setting.words.join(", ")}`;
    case "length": {
      const [low, high] = setting.range;
      const range = high >= LONGEST_SECONDS ? `${low} or more` : `${low} to ${high}`;
      return `a length of time in seconds, ${range}${setting.optional ? ", or none" : ""}`;
    }
    case "amount": {
      const [low, high] = setting.range;
      const what = { share: "a share", bytes: "a whole number of bytes", count: "a whole number" }[setting.unit];
      return `${what}, ${low} to ${high}${setting.optional ? ", or none" : ""}`;
    }
  }
}

/** What is wrong with one written value: null, or what was expected instead. */
export function settingFault(key: SettingKey, value: unknown): string | null {
  const setting: Setting = settingsTable[key];
  return fits(setting, value) ? null : expected(setting);
}

function fits(setting: Setting, value: unknown): boolean {
  switch (setting.kind) {
    case "flag":
      return typeof value === "boolean";
    case "choice":
      return setting.words.some((word) => word === value);
    case "text":
      return typeof value === "string" && value !== "" && value.length <= setting.longest && !/[\r\n]/.test(value);
    case "slice":
      return setting.words.some((word) => word === value) || inRange(value, setting.range);
    case "length":
      return (setting.optional && value === "none") || inRange(value, setting.range);
    case "amount":
      if (setting.optional && value === "none") return true;
      return inRange(value, setting.range) && (!setting.whole || Number.isInteger(value));
  }
}

function inRange(value: unknown, [low, high]: readonly [number, number]): boolean {
  return typeof value === "number" && value >= low && value <= high;
}

const RISK_CAPS = [
  "risk_cap_full_test_suite_seconds",
  "risk_cap_watch_or_server_seconds",
  "risk_cap_daemon_seconds",
  "risk_cap_quiet_seconds",
  "risk_cap_overdue_seconds",
  "risk_cap_late_in_run_seconds",
] as const satisfies readonly SettingKey[];

const USUAL_LENGTHS = [
  "usual_length_test_seconds",
  "usual_length_build_seconds",
  "usual_length_network_seconds",
  "usual_length_other_seconds",
] as const satisfies readonly SettingKey[];

export interface SettingsFault {
  readonly key: SettingKey;
  /** Found and expected, in one sentence that follows the key's name. */
  readonly says: string;
}

/** Faults of values that are fine one by one and impossible together. `layer` is what one file says. */
export function settingsFaults(layer: WrittenSettings, whole: Required<WrittenSettings>): readonly SettingsFault[] {
  const faults: SettingsFault[] = [];
  const fixed = layer.finalization_reserve_seconds;
  const share = layer.finalization_reserve_fraction;
  if (fixed !== undefined && fixed !== "none" && share !== undefined && share !== "none") {
    faults.push({
      key: "finalization_reserve_fraction",
      says: `is ${share} beside finalization_reserve_seconds ${fixed}: a reserve is a length or a share, give one`,
    });
  }
  if (whole.auto_await_risk === "advisory" && RISK_CAPS.every((key) => whole[key] === "none")) {
    faults.push({
      key: "auto_await_risk",
      says: `is advisory where no risk has a cap: give ${RISK_CAPS.join(", ")}, or one of them`,
    });
  }
  const { risk_cap_overdue_seconds: beyond } = whole;
  if (
    whole.auto_await_risk === "advisory" &&
    beyond !== "none" &&
    USUAL_LENGTHS.every((key) => whole[key] === "none")
  ) {
    faults.push({
      key: "risk_cap_overdue_seconds",
      says: `is ${beyond} where no class has a usual length: give ${USUAL_LENGTHS.join(", ")}, or one of them`,
    });
  }
  if (whole.heartbeat && USUAL_LENGTHS.every((key) => whole[key] === "none")) {
    faults.push({
      key: "heartbeat",
      says: `is true where no class has a usual length: give ${USUAL_LENGTHS.join(", ")}, or one of them`,
    });
  }
  const { max_hold_seconds: hold, foreground_total_yield_seconds: total } = whole;
  if (hold !== "none" && (total === "none" || hold < total)) {
    faults.push({
      key: "max_hold_seconds",
      says: `is ${hold}: it must be at least foreground_total_yield_seconds (${total}), so that no initial hold is cut`,
    });
  }
  const { process_slots: slots, process_slots_protected: safe } = whole;
  if (slots !== "none" && whole.process_slots_full === "prune" && slots <= safe) {
    faults.push({
      key: "process_slots",
      says: `is ${slots}: it must be more than process_slots_protected (${safe}), or nothing could be pruned`,
    });
  }
  const { foreground_only_timeout_default_seconds: only, foreground_only_timeout_max_seconds: onlyMost } = whole;
  if (only > onlyMost) {
    faults.push({
      key: "foreground_only_timeout_default_seconds",
      says: `is ${only}: it must not exceed foreground_only_timeout_max_seconds (${onlyMost})`,
    });
  }
  const { finalization_reserve_min_seconds: least, finalization_reserve_max_seconds: most } = whole;
  if (least > most) {
    faults.push({
      key: "finalization_reserve_min_seconds",
      says: `is ${least}: it must not exceed finalization_reserve_max_seconds (${most})`,
    });
  }
  const { hard_timeout_default_seconds: usual, hard_timeout_max_seconds: longest } = whole;
  if (usual !== "none" && longest !== "none" && usual > longest) {
    faults.push({
      key: "hard_timeout_default_seconds",
      says: `is ${usual}: it must not exceed hard_timeout_max_seconds (${longest})`,
    });
  }
  const { process_poll_default_wait_seconds: unnamed, process_poll_max_wait_seconds: ceiling } = whole;
  if (whole.process_poll_over_max === "refuse" && ceiling !== "none" && unnamed > ceiling) {
    faults.push({
      key: "process_poll_default_wait_seconds",
      says: `is ${unnamed}: waits beyond process_poll_max_wait_seconds (${ceiling}) are refused, and this is one`,
    });
  }
  return [...faults, ...conditionFaults(whole)];
}

/** Where a condition can be waited for, whatever a model leaves open must be within what it may ask for. */
function conditionFaults(whole: Required<WrittenSettings>): readonly SettingsFault[] {
  const faults: SettingsFault[] = [];
  const { condition_wait_max_seconds: most, condition_wait_default_seconds: unnamed } = whole;
  if (most > 0 && unnamed > most) {
    faults.push({
      key: "condition_wait_default_seconds",
      says: `is ${unnamed}: it must not exceed condition_wait_max_seconds (${most})`,
    });
  }
  const { condition_probe_every_seconds: every } = whole;
  const { condition_probe_every_min_seconds: least, condition_probe_every_max_seconds: rarest } = whole;
  if (every < least || every > rarest) {
    faults.push({
      key: "condition_probe_every_seconds",
      says: `is ${every}: it must be from condition_probe_every_min_seconds (${least}) to condition_probe_every_max_seconds (${rarest})`,
    });
  }
  return faults;
}

/** The settings as shipped, before any file has said anything. */
export const shipped: Settings = settingsOf();
