/**
 * A trial: one agent at its plan, step after step, until it has submitted or is cut off.
 *
 * The plan says what work there is, the profile how the model deals with a process that came back
 * running, the shell what it is shown. The outer cut-off is caught here and nowhere else.
 */
import { type RunBudget, reserveBegins, reserveOf, runBudget, type ToldBudget } from "../policy/budget.ts";
import type { Settings } from "../policy/settings.ts";
import { after, before, beginning, type Duration, type Instant } from "../policy/time.ts";
import type { Draws, Key } from "../random.ts";
import { type Agent, type Asked, CutOff, type Held, type Passed, type ProcessId } from "./effects.ts";
import type { Record } from "./events.ts";
import { afterWait, firstSight, type Move, nextMove, type Profile, speaksOfReserve } from "./model.ts";
import type { Plan, Step } from "./plan.ts";
import { type Carried, type ExecResult, type Returned, Shell } from "./shell.ts";

export interface TrialSpec {
  readonly plan: Plan;
  readonly profile: Profile;
  readonly settings: Settings;
  /** What the policy is told; null if nothing. */
  readonly told: ToldBudget | null;
  /** When the harness ends the trial; it always does. */
  readonly outerLimit: Duration;
  readonly luck: Draws;
  /** Of this scenario, in this replicate, under this seed; never of an arm. */
  readonly key: Key;
}

/** One trial, from its first millisecond. */
export function* trial(spec: TrialSpec, record: Record): Agent<void> {
  const budget = spec.told === null ? null : runBudget(spec.told, spec.settings);
  record({
    event: "trial_began",
    at: beginning,
    budget,
    outerLimit: spec.outerLimit,
    reserveBegins: budget === null ? reserveIfTold(spec) : reserveBegins(budget),
  });
  const work = new Work(spec, budget, record);
  // What happens most stands here, not in generators of its own: every level between a trial and its world costs at
  // each step.
  try {
    // By index: an iterator would have to be kept over every yield.
    for (let at = 0; at < spec.plan.length; at += 1) {
      const step = spec.plan[at]!;
      if (work.skips(step)) continue;
      switch (step.step) {
        case "think":
          work.now = ((yield { effect: "pass", until: after(work.now, step.length) }) as Passed).at;
          break;
        case "run": {
          const { shell } = work;
          const call = shell.beginExec(step, work.now);
          let returned: Returned<ExecResult> | null = null;
          if ("refused" in call) returned = call;
          else {
            shell.started(call, (yield call.start) as Passed);
            if (call.timeout !== null) yield shell.limit(call, call.timeout);
            const first = (yield shell.firstHold(call)) as Held;
            returned = shell.endsAtOnce(call, first) ?? (yield* shell.goOnWithExec(call, first));
          }
          work.takeIn(returned);
          if (!work.isOver(step, returned)) yield* work.goOn(step, returned);
          break;
        }
        case "status":
          yield* work.status(step);
          break;
        case "commit":
          record({ event: "committed", at: work.now });
          break;
        case "submit":
          record({ event: "submitted", at: work.now, partial: work.skipped });
          return;
      }
    }
    record({ event: "gave_up", at: work.now });
  } catch (thrown) {
    if (!(thrown instanceof CutOff)) throw thrown;
    record({ event: "cut_off", at: thrown.at });
  }
}

/** Where the reserve would begin if the policy knew of the outer limit: what an untold arm is measured against. */
function reserveIfTold({ outerLimit, settings }: TrialSpec): Instant {
  return before(after(beginning, outerLimit), reserveOf(settings, outerLimit));
}

type RunStep = Extract<Step, { step: "run" }>;

/** What a model knows and does on its way through the plan. */
class Work {
  now: Instant = beginning;
  /** Whether anything of the plan was given up. */
  skipped = false;
  readonly #spec: TrialSpec;
  readonly shell: Shell;
  /** By process id: the step that started it. */
  readonly #startedBy: (string | undefined)[] = [];
  #knowsReserve = false;
  /** Giving up the rest of the plan to finish in time. */
  #finishing = false;

  constructor(spec: TrialSpec, budget: RunBudget | null, record: Record) {
    this.#spec = spec;
    const { settings, profile } = spec;
    this.shell = new Shell({ settings, budget, cadence: profile.cadence, record });
  }

  /** Whether a step is given up, to finish in time. */
  skips({ step }: Step): boolean {
    if (!this.#finishing || step === "commit" || step === "submit") return false;
    this.skipped = true;
    return true;
  }

  *status({ of, thenStep }: Extract<Step, { step: "status" }>): Agent<void> {
    const process = this.#startedBy.lastIndexOf(of);
    if (process < 0) return;
    this.takeIn(yield* this.shell.status(process as ProcessId, this.now));
    if (thenStep) yield* this.#comeTo(null);
  }

  /** Whether there is nothing more to do about a command that was run: the usual case. */
  isOver({ id, thenStep }: RunStep, returned: Returned<ExecResult>): boolean {
    if ("refused" in returned) return false;
    this.#startedBy[returned.process!] = id;
    return returned.result.status !== "running" && !thenStep;
  }

  /** Whatever else a command takes that was refused, or came back running, or is followed by a step. */
  *goOn(step: RunStep, first: Returned<ExecResult>): Agent<void> {
    const { id, command, background, thenStep } = step;
    let returned = first;
    if ("refused" in returned) {
      // A model told that its timeout is out of range runs the command without one.
      yield* this.#comeTo(null);
      returned = this.takeIn(yield* this.shell.exec({ command, background, timeout: null }, this.now));
      if ("refused" in returned) return;
      this.#startedBy[returned.process!] = id;
    }
    if (thenStep) yield* this.#comeTo(null);
    if (returned.result.status === "running" && !background) yield* this.#attend(returned.process!, id, returned);
  }

  /** Deals with a process that came back running, until it is over or stopped. */
  *#attend(process: ProcessId, id: string, first: Carried<ExecResult>): Agent<void> {
    const { profile, luck, key } = this.#spec;
    const waits = luck.within(luck.within(key, id), "waits");
    const seen = firstSight(first);
    for (;;) {
      const move = yield* this.#comeTo(nextMove(profile, seen, this.#knowsReserve, luck, waits));
      if (move.move !== "wait") {
        this.takeIn(yield* this.shell.stop(process, this.now));
        if (move.move === "stop_and_finish") this.#finishing = true;
        return;
      }
      let returned = this.takeIn(yield* this.shell.wait(process, move.length, this.now));
      if ("refused" in returned) {
        // A model told that it asked for too long a wait names none the next time.
        yield* this.#comeTo(move);
        returned = this.takeIn(yield* this.shell.wait(process, null, this.now));
        if ("refused" in returned) return;
      }
      afterWait(seen, returned);
      if (returned.result.status !== "running") return;
    }
  }

  /** The step that a model takes before its next move. */
  *#comeTo<Next extends Move | null>(move: Next): Agent<Next> {
    const asked = (yield { effect: "ask", move, takes: this.#spec.profile.step }) as Asked<Next>;
    this.now = asked.at;
    return asked.move;
  }

  /** The time has come that the call returned at, and the model knows what the result said. */
  takeIn<Result extends object>(returned: Returned<Result>): Returned<Result> {
    this.now = returned.at;
    if ("result" in returned && speaksOfReserve(returned.result)) this.#knowsReserve = true;
    return returned;
  }
}
