/**
 * The oracle: whoever knows every script, and is held by nothing but what earns.
 *
 * Not a model and not a policy, but the bound that both are measured against. Reward comes first; among the ways to earn as
 * much, no way is shorter. It waits for a command only if the command's end earns a test that counts, hands everything
 * else over in no time, and gives up the rest of a plan once nothing in it earns any more. Requests are served at once and
 * take what the plan says that the thinking takes.
 *
 * Whatever cannot be told without going through every order of events is taken for possible, so that it stays a bound: what it
 * starts runs side by side, and no command that it does not need spoils anything.
 */
import type { Test } from "../agent/effects.ts";
import { type Grading, type JobStep, namesTests, type Plan, type RunStep, type Step } from "../agent/plan.ts";
import type { Duration } from "../policy/time.ts";
import type { ScriptedCommand } from "./script.ts";

/** The most that can be earned, and how soon. */
export interface Bound {
  readonly reward: number;
  readonly testsPassed: number;
  readonly length: Duration;
}

export interface Task {
  readonly plan: Plan;
  readonly grading: Grading;
  readonly outerLimit: Duration;
}

/** What earns nothing is over at once. */
const NOTHING: Bound = { reward: 0, testsPassed: 0, length: 0 as Duration };

/** @param speed how many times faster than stated the provider lets a model think */
export function oracle({ plan, grading, outerLimit }: Task, speed = 1): Bound {
  return namesTests(plan) ? byCommands(plan, grading, outerLimit, speed) : byAct(plan, grading, outerLimit, speed);
}

/** Where the credited act earns every test: all of the plan has to be gone through, and no command of it waited for. */
function byAct(plan: Plan, { credit, tests, service }: Grading, outerLimit: Duration, speed: number): Bound {
  let now = 0;
  let served = 0;
  let committed = false;
  for (const step of plan) {
    served = Math.max(served, servesFrom(step, service, now));
    now += passes(step, speed);
    if (now > outerLimit) break;
    if (step.step === "commit") committed = true;
    if (step.step !== "submit") continue;
    const length = Math.max(now, served) as Duration;
    return length > outerLimit ? NOTHING : { reward: 1, testsPassed: tests, length };
  }
  // Whoever has committed has earned it all, but is not done before the plan is, or its time.
  const earns = committed && credit !== "submitted";
  return earns ? { reward: 1, testsPassed: tests, length: Math.min(now, outerLimit) as Duration } : NOTHING;
}

/** How long a step takes somebody who is held by nothing. */
function passes(step: Step, speed: number): number {
  switch (step.step) {
    case "think":
      return Math.floor(step.length / speed);
    case "until_succeeds":
      return untilOver(step, speed);
    case "together":
      return Math.max(0, ...step.of.map((each) => (each.step === "job" ? jobPasses(each, speed) : 0)));
    case "job":
      return jobPasses(step, speed);
    default:
      return 0;
  }
}

/** Either every attempt is given up at once, and every thought is thought; or one that succeeds is waited for. */
function untilOver({ attempts, thoughts }: Extract<Step, { step: "until_succeeds" }>, speed: number): number {
  let thought = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [at, { command }] of attempts.entries()) {
    const { length, exit } = command as ScriptedCommand;
    if (length !== null && exit.code === 0) least = Math.min(least, thought + length);
    if (at < attempts.length - 1) thought += Math.floor(thoughts[at]! / speed);
  }
  return Math.min(least, thought);
}

function jobPasses({ plan, timeout }: JobStep, speed: number): number {
  const whole = plan.reduce((sum, step) => sum + passes(step, speed), 0);
  return timeout === null ? whole : Math.min(timeout, whole);
}

/** When a service that must answer at the end is ready, if this step starts it; 0 if it does not. */
function servesFrom(step: Step, service: number | null, now: number): number {
  if (service === null || step.step !== "run" || step.command.port !== service) return 0;
  const { readyAt } = step.command as ScriptedCommand;
  return readyAt === null ? 0 : now + readyAt;
}

/** A command that earns, and when its end can have come at the earliest. */
interface Earner {
  readonly ends: number;
  readonly earns: readonly Test[];
}

/** Where commands earn tests by name: those that end first are waited for, until they have earned what can be earned. */
function byCommands(plan: Plan, grading: Grading, outerLimit: Duration, speed: number): Bound {
  const { tests, reward: rule, service } = grading;
  const earners: Earner[] = [];
  let now = 0;
  let served = 0;
  for (const step of plan) {
    served = Math.max(served, servesFrom(step, service, now));
    earnersIn(step, now, speed, earners);
    now += passes(step, speed);
  }
  if (served > outerLimit) return NOTHING;
  const passed = new Set<Test>();
  let length = served;
  for (const { ends, earns } of earners.sort((a, b) => a.ends - b.ends)) {
    if (ends > outerLimit || passed.size >= tests) break;
    const before = passed.size;
    for (const test of earns) passed.add(test);
    if (passed.size > before) length = Math.max(length, ends);
  }
  const reward = rule === "share" ? passed.size / tests : passed.size >= tests ? 1 : 0;
  return reward === 0 ? NOTHING : { reward, testsPassed: passed.size, length: length as Duration };
}

/** Every command of a step that earns something, if it is begun as soon as it can be. */
function earnersIn(step: Step, from: number, speed: number, found: Earner[]): void {
  const take = ({ command }: RunStep, at: number) => {
    const { length, passes: earned, spoils } = command as ScriptedCommand;
    const earns = earned.filter((test) => !spoils.includes(test));
    if (length !== null && earns.length > 0) found.push({ ends: at + length, earns });
  };
  switch (step.step) {
    case "run":
      take(step, from);
      break;
    case "until_succeeds": {
      let at = from;
      for (const [index, attempt] of step.attempts.entries()) {
        take(attempt, at);
        at += Math.floor((step.thoughts[index] ?? 0) / speed);
      }
      break;
    }
    case "together":
      for (const each of step.of) earnersIn(each, from, speed, found);
      break;
    case "job": {
      let at = from;
      for (const inner of step.plan) {
        earnersIn(inner, at, speed, found);
        at += passes(inner, speed);
      }
      break;
    }
  }
}
