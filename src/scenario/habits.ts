/** Profiles from paper: the habits of a stub model, and what a scenario changes of them. */
import type { ContextTerms } from "../agent/context.ts";
import {
  type Lengths,
  OBEYS_ALL,
  PLAIN_HABITS,
  type Profile,
  type StopRule,
  type ToolRule,
  USUAL_CONTEXT,
  type WaitRule,
} from "../agent/model.ts";
import { MESSAGE_KINDS } from "../policy/notice.ts";
import { seconds } from "../policy/time.ts";
import { type Context, distributionOf } from "./distributions.ts";
import type { ContextFile, OracleFile, ProfileChanges, ProfileFile, WaitFile } from "./habitSchema.ts";
import { type Place, part, type Reading } from "./reading.ts";
import type { ModelChanges } from "./situation.ts";

type Habits = Partial<Omit<Profile, "profile" | "says">>;

export function profileOf(context: Context, place: Place, file: ProfileFile): Profile {
  return { ...NO_HABITS, ...habitsOf(context, place, file), profile: file.profile, says: file.says ?? "" };
}

export function oracleOf(file: OracleFile): Profile {
  return { ...NO_HABITS, profile: file.profile, says: file.says ?? "", oracle: true };
}

/** What a scenario changes of a model. */
export function changesOf(context: Context, place: Place, file: ProfileChanges): ModelChanges[string] {
  return habitsOf(context, place, file);
}

const NO_HABITS: Profile = {
  profile: "",
  says: "",
  step: seconds(0.001),
  cadence: null,
  waits: [],
  stopsAProcess: [],
  inTheReserve: "stop_and_go_on",
  ...PLAIN_HABITS,
};

function habitsOf(context: Context, place: Place, file: ProfileChanges): Habits {
  const { arguments: given, reruns, waits_for_conditions: conditions, expects } = file;
  const habits: { -readonly [Key in keyof Habits]: Habits[Key] } = {};
  if (file.step_seconds !== undefined) {
    habits.step =
      typeof file.step_seconds === "number"
        ? seconds(file.step_seconds)
        : distributionOf(context, part(place, "step_seconds"), file.step_seconds);
  }
  if (file.cadence_seconds !== undefined) habits.cadence = seconds(file.cadence_seconds);
  if (file.waits !== undefined) {
    habits.waits = waitsOf(context, part(place, "waits"), file.waits, file.cadence_seconds !== undefined);
  }
  if (file.between !== undefined) habits.between = file.between.map(({ do: does, p }) => ({ does, p }));
  if (file.stops_a_process !== undefined) habits.stopsAProcess = stopRulesOf(file.stops_a_process);
  const { in_the_reserve: reserve } = file;
  if (reserve !== undefined) {
    habits.inTheReserve = typeof reserve === "string" ? reserve : reserve.map(({ do: does, p }) => ({ does, p }));
  }
  if (file.on_ready !== undefined) habits.onReady = file.on_ready;
  if (given !== undefined) {
    const { timeout_seconds: timeout } = given;
    habits.arguments = {
      backgroundShare: given.background_share ?? 0,
      timeoutShare: given.timeout_share ?? 0,
      timeout:
        timeout === undefined ? null : distributionOf(context, part(place, "arguments", "timeout_seconds"), timeout),
    };
  }
  if (reruns !== undefined) {
    habits.reruns = { running: reruns.running ?? 0, timedOut: reruns.timed_out ?? 0, atMost: reruns.at_most };
  }
  if (conditions !== undefined) {
    const { timeout_seconds: timeout, every_seconds: every } = conditions;
    habits.conditions = {
      timeout: timeout === undefined ? null : seconds(timeout),
      every: every === undefined ? null : seconds(every),
    };
  }
  if (expects !== undefined) {
    habits.expects = {
      sigma: expects.sigma,
      backgroundOver: expects.background_over_seconds === undefined ? null : seconds(expects.background_over_seconds),
      timeoutFactor: expects.timeout_factor ?? null,
    };
  }
  if (file.tools !== undefined) habits.tools = toolsOf(context.reading, part(place, "tools"), file.tools);
  if (file.forgets_after_compaction !== undefined) habits.forgets = file.forgets_after_compaction;
  if (file.obeys !== undefined) {
    habits.obeys = Object.fromEntries(
      MESSAGE_KINDS.map((kind) => [kind, file.obeys?.[kind] ?? OBEYS_ALL[kind]]),
    ) as Profile["obeys"];
  }
  if (file.ends_its_turn !== undefined) habits.endsItsTurn = file.ends_its_turn;
  if (file.context !== undefined) habits.context = contextOf(context.reading, part(place, "context"), file.context);
  return habits;
}

function waitsOf(context: Context, place: Place, file: readonly WaitFile[], hasCadence: boolean): readonly WaitRule[] {
  const { reading } = context;
  return file.map(({ from, late_seconds: late, seconds: asked }, index): WaitRule => {
    const at = part(place, index);
    const before = file[index - 1];
    if (before === undefined) {
      if (from !== 1) reading.fault(part(at, "from"), `is ${from}: expected 1, as the first wait needs a rule`);
      if (late !== undefined)
        reading.fault(part(at, "late_seconds"), "stands in the first rule: expected one before it that always holds");
    } else if (late !== undefined && from === before.from) {
      const { late_seconds: earlier = 0 } = before;
      if (late <= earlier)
        reading.fault(part(at, "late_seconds"), `is ${late}: expected more than ${earlier}, as rules come in order`);
    } else if (from <= before.from) {
      reading.fault(part(at, "from"), `is ${from}: expected more than ${before.from}, as rules come in order`);
    }
    if (asked === "cadence" && !hasCadence)
      reading.fault(
        part(at, "seconds"),
        'is "cadence": expected cadence_seconds beside waits, to say how long that is',
      );
    const length = lengthsOf(context, part(at, "seconds"), asked);
    return late === undefined ? { from, length } : { from, late: seconds(late), length };
  });
}

function lengthsOf(context: Context, place: Place, asked: WaitFile["seconds"]): Lengths {
  if (typeof asked === "number") return seconds(asked);
  if (asked === "cadence") return { cadence: true };
  const { choice, ladder, share_of_remaining, otherwise, ...drawn } = asked;
  if (choice !== undefined) return choice.map(({ value, p }) => ({ length: seconds(value), p }));
  if (ladder !== undefined) return { ladder: ladder.map(seconds) };
  if (share_of_remaining !== undefined) return { shareOfRemaining: share_of_remaining, otherwise: seconds(otherwise!) };
  return { drawn: distributionOf(context, place, drawn) };
}

function toolsOf(reading: Reading, place: Place, file: NonNullable<ProfileFile["tools"]>): readonly ToolRule[] {
  for (const [index, { from }] of file.entries()) {
    const before = file[index - 1];
    const at = part(place, index, "from");
    if (before === undefined && from !== 1) reading.fault(at, `is ${from}: expected 1, as the first call needs tools`);
    if (before !== undefined && from <= before.from)
      reading.fault(at, `is ${from}: expected more than ${before.from}, as rules come in order`);
  }
  return file;
}

function stopRulesOf(file: ProfileFile["stops_a_process"]): readonly StopRule[] {
  if (file === "never") return [];
  return file.any_of.map(({ quiet_waits, running_seconds, failure_seen, cpu_idle, probability }) => ({
    quietWaits: quiet_waits ?? null,
    running: running_seconds === undefined ? null : seconds(running_seconds),
    failureSeen: failure_seen ?? null,
    ...(cpu_idle === undefined ? {} : { cpuIdle: cpu_idle }),
    ...(probability === undefined ? {} : { probability }),
  }));
}

function contextOf(reading: Reading, place: Place, file: ContextFile): ContextTerms {
  const usual = USUAL_CONTEXT;
  const terms: ContextTerms = {
    start: file.start_tokens ?? usual.start,
    step: file.step_tokens ?? usual.step,
    poll: file.poll_tokens ?? usual.poll,
    stepOutput: file.step_output_tokens ?? usual.stepOutput,
    pollOutput: file.poll_output_tokens ?? usual.pollOutput,
    bytesPerToken: file.bytes_per_token ?? usual.bytesPerToken,
    window: file.window_tokens ?? usual.window,
    compactsAt: file.compacts_at ?? usual.compactsAt,
    kept: file.kept_tokens ?? usual.kept,
    summary: file.summary_tokens ?? usual.summary,
  };
  const full = Math.floor(terms.window * terms.compactsAt);
  if (terms.start > full)
    reading.fault(
      place,
      `begins with ${terms.start} tokens: expected ${full} at most, where the conversation is compacted`,
    );
  if (terms.kept + terms.summary > full) {
    reading.fault(
      place,
      `keeps ${terms.kept + terms.summary} tokens, summary included: expected ${full} at most, where the conversation is compacted`,
    );
  }
  return terms;
}
