/**
 * Trials in which nothing is decided by a hair: whatever could come one way or the other is at least five seconds apart.
 * So a world that is a little late still tells the same story.
 */
import fc from "fast-check";
import type { Profile } from "../../src/agent/model.ts";
import type { Plan } from "../../src/agent/plan.ts";
import type { WrittenSettings } from "../../src/policy/settings.ts";
import { seconds } from "../../src/policy/time.ts";
import type { ScriptedCommand } from "../../src/world/script.ts";
import {
  alone,
  candidate,
  command,
  commits,
  every,
  hangs,
  lasts,
  type RunSpec,
  runs,
  submits,
  thinks,
} from "../aRun.ts";

/** Milliseconds. */
const GAP = 5_000;
const LONGEST = 1_000_000;

const someCommand: fc.Arbitrary<ScriptedCommand> = fc
  .tuple(fc.constantFrom(3, 17, 44, 75, 130, 310, null), fc.constantFrom(null, 13, 29))
  .map(([length, interval]) => {
    const output = interval === null ? undefined : every(interval, "tick\n");
    return length === null ? command(hangs(output)) : command(lasts(length, output));
  });

const settings: fc.Arbitrary<WrittenSettings> = fc.record({
  foreground_auto_await_max_seconds: fc.constantFrom(0, 30, 60, 240),
  process_wait_slice_seconds: fc.constantFrom("auto" as const, "none" as const, 90),
});

const profile: fc.Arbitrary<Partial<Profile>> = fc.record({
  step: fc.constantFrom(6, 12).map(seconds),
  waits: fc.constantFrom(25, 110, 600).map((length) => [{ from: 1, length: seconds(length) }]),
  stopsAProcess: fc.constantFrom(1, 2).map((quietWaits) => [{ quietWaits, running: null, failureSeen: null }]),
});

const plan: fc.Arbitrary<Plan> = fc
  .tuple(fc.constantFrom(8, 21), someCommand, fc.constantFrom(14, 37), fc.option(someCommand), fc.constantFrom(9, 52))
  .map(([before, first, between, second, after]) => [
    thinks(before),
    runs(first, { id: "first" }),
    thinks(between),
    ...(second === null ? [] : [runs(second, { id: "second" })]),
    thinks(after),
    commits,
    submits,
  ]);

export const calmTrial: fc.Arbitrary<RunSpec> = fc
  .record({ settings, profile, plan, told: fc.constantFrom(undefined, 700), outerLimit: fc.constantFrom(700, 1_000) })
  .map(({ told, ...spec }): RunSpec => ({ ...spec, ...(told === undefined ? {} : { told, reserve: 120 }) }))
  .filter(isCalm);

function isCalm(spec: RunSpec): boolean {
  const { events, endedAt } = alone(candidate(spec));
  const happens = new Set(events.map(({ at }) => at as number));
  const couldHappen: number[] = [];
  for (const event of events) {
    if (event.event !== "exec_called") continue;
    const { length, prints } = event.command as ScriptedCommand;
    if (length !== null) couldHappen.push(event.at + length);
    for (let age = prints?.nextAfter(-1) ?? null; age !== null && age < LONGEST; age = prints!.nextAfter(age)) {
      couldHappen.push(event.at + age);
    }
  }
  const moments = [...happens].sort((a, b) => a - b);
  const apart = moments.every((at, index) => index === 0 || at - moments[index - 1]! >= GAP);
  const clear = couldHappen.every((at) => moments.every((moment) => at === moment || Math.abs(at - moment) >= GAP));
  return apart && clear && endedAt <= LONGEST;
}
