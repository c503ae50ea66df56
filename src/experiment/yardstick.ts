/** What the trials of one task are measured by, whatever the arm: its grader, and the oracle. Worked out once, for all of them. */
import type { TrialEvent } from "../agent/events.ts";
import { type Grade, grade } from "../agent/grading.ts";
import { namesTests } from "../agent/plan.ts";
import type { Task } from "../scenario/draw.ts";
import type { Arm } from "../scenario/load.ts";
import { type Bound, oracle } from "../world/oracle.ts";

export class Yardstick {
  readonly #task: Task;
  readonly #byName: boolean;
  /** The oracle at one speed of thought, and another if there is one. */
  readonly #bounds: { readonly speed: number; readonly bound: Bound }[] = [];

  constructor(task: Task) {
    this.#task = task;
    this.#byName = namesTests(task.plan);
  }

  /** What a trial is worth; null where nothing can be said. The oracle's own is worth what it knows it to be. */
  grade(arm: Arm, events: readonly TrialEvent[]): Grade | null {
    const { plan, grading } = this.#task;
    if (!arm.profile.oracle) return grade(events, plan, grading, this.#byName);
    const { reward, testsPassed } = this.oracle(arm);
    return { reward, testsPassed, testsTotal: grading.tests };
  }

  /** What the oracle comes to, at the speed of an arm's provider. */
  oracle({ provider }: Arm): Bound {
    const speed = provider === null ? 1 : provider.terms.speed;
    for (const known of this.#bounds) if (known.speed === speed) return known.bound;
    const bound = oracle(this.#task, speed);
    this.#bounds.push({ speed, bound });
    return bound;
  }
}
