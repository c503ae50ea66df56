/**
 * What a panel varies around its arms: the habit that they share, and the tasks that they meet.
 *
 * Every combination of levels is a cell. In each all arms meet the same tasks under the same luck, and the hypotheses are
 * asked anew; cells differ in nothing but their levels, for every draw is keyed by what it is for. `own` leaves a thing as its
 * file has it, and so does a level that says what the file says: then the very same object comes back.
 */
import type { Lengths, Profile } from "../agent/model.ts";
import { meanOf, scaled } from "../distribution.ts";
import type { Duration } from "../policy/time.ts";
import { type Arm, everyFactor, factorAspect } from "./arm.ts";
import { listed, suggestion } from "./fault.ts";
import type { Cell, Panel } from "./panel.ts";
import type { Population } from "./situation.ts";
import { instead, positive, share } from "./vocabulary.ts";

/** What a panel can vary and no arm has as a factor. */
export const surroundings = ["quiet_waits", "long_wait_probability", "hang_probability", "thinking_seconds"] as const;
export type Surrounding = (typeof surroundings)[number];

/** As its file has it. */
export const OWN = "own";

/** As many as a page has directions: across, down, and the columns and rows of its charts. */
export const MOST_VARIED = 4;

export function isSurrounding(name: string): name is Surrounding {
  return (surroundings as readonly string[]).includes(name);
}

/** Whether it changes the tasks, and not how an arm meets them. */
export function changesTasks(name: string): boolean {
  return name === "hang_probability" || name === "thinking_seconds";
}

/** Why this cannot be varied, as the rest of a sentence that begins with its name; null if it can. */
export function notVaried(name: string, declared: readonly string[]): string | null {
  if (isSurrounding(name)) return null;
  const aspect = factorAspect(name);
  if (aspect === null) {
    const meant = suggestion(name, [...surroundings, ...everyFactor]);
    return `is nothing that can be varied${meant === "" ? `; that can be ${listed(surroundings)}, and every factor` : meant}`;
  }
  const same = declared.find((factor) => factorAspect(factor) === aspect);
  return same === undefined ? null : "is a factor of the arms too: expected what all arms of a cell have in common";
}

/** Why a level is none, as the rest of a sentence that begins with it; null if it is one. */
export function levelFault(name: Surrounding, level: unknown): string | null {
  if (level === OWN) return null;
  switch (name) {
    case "quiet_waits":
      return Number.isInteger(level) && (level as number) >= 1
        ? null
        : instead(level, "a number of waits, 1 or more, or own");
    case "long_wait_probability":
    case "hang_probability":
      return share().safeParse(level).success ? null : instead(level, "a probability from 0 to 1, or own");
    case "thinking_seconds":
      return positive().safeParse(level).success ? null : instead(level, "a length of time above 0, or own");
  }
}

type Changed<Thing> = { readonly made: Thing } | { readonly why: string };

/** A profile with another habit; or why it cannot have it, as the rest of a sentence. */
export function withHabit(profile: Profile, name: Surrounding, level: number): Changed<Profile> {
  if (profile.oracle)
    return { why: `varies the habits of ${profile.profile}, which is an oracle: expected a profile that has some` };
  if (name === "quiet_waits") return { made: withQuietWaits(profile, level) };
  const made = withLongWaits(profile, level);
  if (made !== null) return { made };
  return {
    why: `varies how likely ${profile.profile} is to ask for its longest wait: expected a profile with a choice of waits`,
  };
}

/** Gives up after so many quiet waits, whatever else would make it. Rules that ask for something beside them stay. */
function withQuietWaits(profile: Profile, quietWaits: number): Profile {
  const { stopsAProcess } = profile;
  const isAlone = ({ quietWaits: own, running, failureSeen, cpuIdle, probability }: (typeof stopsAProcess)[number]) =>
    own !== null && running === null && failureSeen === null && cpuIdle === undefined && probability === undefined;
  const [alone] = stopsAProcess.filter(isAlone);
  if (alone?.quietWaits === quietWaits) return profile;
  const rule = { quietWaits, running: null, failureSeen: null };
  const changed = stopsAProcess.map((own) => (own === alone ? rule : own));
  return { ...profile, stopsAProcess: alone === undefined ? [...stopsAProcess, rule] : changed };
}

/** Wherever it chooses, it chooses the longest wait so often, and the others in the proportions that they had. */
function withLongWaits(profile: Profile, p: number): Profile | null {
  const isChoice = (length: Lengths): length is readonly { length: Duration; p: number }[] =>
    Array.isArray(length) && length.length > 1;
  if (!profile.waits.some(({ length }) => isChoice(length))) return null;
  const waits = profile.waits.map((rule) => {
    if (!isChoice(rule.length)) return rule;
    const longest = Math.max(...rule.length.map(({ length }) => length));
    const length = shared(rule.length, ({ length }) => length === longest, p);
    return length === rule.length ? rule : { ...rule, length };
  });
  return waits.every((rule, at) => rule === profile.waits[at]) ? profile : { ...profile, waits };
}

/** A population with other tasks; or why it cannot have them, as the rest of a sentence. */
export function withTasks(population: Population, name: Surrounding, level: number): Changed<Population> {
  const { mix, thinkingSeconds } = population;
  if (name === "thinking_seconds") {
    const mean = meanOf(thinkingSeconds);
    if (mean === 0) return { why: `varies thinking_seconds where ${population.population} has none: expected some` };
    if (same(mean, level)) return { made: population };
    return { made: { ...population, thinkingSeconds: scaled(thinkingSeconds, level / mean) } };
  }
  const hangs = ({ command }: Population["mix"][number]) => command.phases.some(({ phase }) => phase === "hang");
  if (!mix.some(hangs) || mix.every(hangs)) {
    const all = mix.every(hangs) ? "nothing but commands that hang" : "no command that hangs";
    return { why: `varies hang_probability where ${population.population} has ${all}: expected some of both` };
  }
  const changed = shared(mix, hangs, level);
  return { made: changed === mix ? population : { ...population, mix: changed } };
}

/** The same things, of which some are chosen so often in all, and the others else; each among its own as before. */
function shared<Thing extends { readonly p: number }>(
  things: readonly Thing[],
  some: (thing: Thing) => boolean,
  p: number,
): readonly Thing[] {
  const sum = (those: readonly Thing[]) => those.reduce((all, thing) => all + thing.p, 0);
  const [chosen, others] = [things.filter(some), things.filter((thing) => !some(thing))];
  if (same(sum(chosen), p)) return things;
  const part = (thing: Thing, those: readonly Thing[], of: number) =>
    sum(those) === 0 ? of / those.length : of * (thing.p / sum(those));
  return things.map((thing) => ({ ...thing, p: some(thing) ? part(thing, chosen, p) : part(thing, others, 1 - p) }));
}

/** But for what rounding leaves. */
const same = (one: number, other: number) => Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(other));

/** What a cell calls an arm of the panel. */
export function armInCell(arm: string, levels: Cell["levels"]): string {
  return [arm, ...Object.entries(levels).map(([name, level]) => `${name}-${level}`)].join(".");
}

/** The arms that a panel runs: those of its cells, where it has some. */
export function everyArm({ arms, cells }: Pick<Panel, "arms" | "cells">): readonly Arm[] {
  return cells.length === 0 ? arms : cells.flatMap(({ panel }) => panel.arms);
}
