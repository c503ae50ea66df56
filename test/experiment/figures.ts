/** Means per replicate of a panel's arms, told from events alone: an account of its own, beside the rows. */
import { conductWorld } from "../../src/experiment/conduct.ts";
import { scheduled } from "../../src/experiment/schedule.ts";
import { between } from "../../src/policy/time.ts";
import { keyed } from "../../src/random.ts";
import type { Panel } from "../../src/scenario/load.ts";

export interface ArmFigures {
  returnedRunning: number;
  waitActions: number;
  users: number;
  timeouts: number;
  /** Seconds. */
  duration: number;
  /** Seconds, of foreground calls that came back running. */
  medianAtReturn: number;
}

export function figuresOf(panel: Panel): Record<string, ArmFigures> {
  const sums: Record<string, ArmFigures> = {};
  const returns: Record<string, number[]> = {};
  for (const { arm } of panel.arms) {
    sums[arm] = { returnedRunning: 0, waitActions: 0, users: 0, timeouts: 0, duration: 0, medianAtReturn: 0 };
    returns[arm] = [];
  }
  const tasks = scheduled(panel, keyed);
  let trials = 0;
  for (let replicate = 1; replicate <= panel.replicates; replicate += 1) {
    conductWorld(panel, tasks, replicate, ({ arm, events, startedAt, endedAt }) => {
      const to = sums[arm.arm]!;
      let used = false;
      let foreground: { at: number; background: boolean } | null = null;
      for (const event of events) {
        if (event.event === "exec_called") foreground = { at: event.at, background: event.background };
        if (event.event === "process_called") {
          used = true;
          if (event.action === "wait" || event.action === "status") to.waitActions += 1;
        }
        if (
          event.event === "control_returned" &&
          event.tool === "exec" &&
          event.end === null &&
          !foreground!.background
        ) {
          to.returnedRunning += 1;
          returns[arm.arm]!.push(between(foreground!.at as typeof event.at, event.at) / 1_000);
        }
        if (event.event === "cut_off") to.timeouts += 1;
      }
      if (used) to.users += 1;
      to.duration += (endedAt - startedAt) / 1_000;
      trials += 1;
    });
  }
  for (const [arm, to] of Object.entries(sums)) {
    for (const key of ["returnedRunning", "waitActions", "users", "timeouts"] as const) to[key] /= panel.replicates;
    to.duration /= trials / panel.arms.length;
    const sorted = returns[arm]!.sort((a, b) => a - b);
    to.medianAtReturn = sorted[sorted.length >> 1] ?? Number.NaN;
  }
  return sums;
}
