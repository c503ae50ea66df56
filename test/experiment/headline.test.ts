/** The headline panel and its crossing stand where an independent computation of the same rules put them. */
import { beforeAll, describe, expect, test } from "vitest";
import { loadPanel } from "../../src/scenario/load.ts";
import { type ArmFigures, figuresOf } from "./figures.ts";

describe("the headline panel, 30 replicates", () => {
  let figures: Record<string, ArmFigures>;
  beforeAll(() => {
    figures = figuresOf(loadPanel("deepswe-headline", { replicates: 30 }));
  }, 120_000);

  const bands: Record<string, Partial<Record<keyof ArmFigures, readonly [number, number]>>> = {
    control: {
      returnedRunning: [415, 460],
      medianAtReturn: [10, 10.1],
      waitActions: [460, 515],
      users: [95, 102],
      timeouts: [0, 0.3],
      duration: [1_230, 1_300],
    },
    treatment: {
      returnedRunning: [26, 32],
      medianAtReturn: [240, 240],
      waitActions: [37, 47],
      users: [26, 31],
      timeouts: [4, 7],
    },
    budgeted: {
      returnedRunning: [27, 33],
      medianAtReturn: [240, 240],
      waitActions: [76, 94],
      users: [26, 31],
      timeouts: [0, 0.4],
    },
  };

  for (const [arm, figuresOfArm] of Object.entries(bands)) {
    for (const [figure, [low, high]] of Object.entries(figuresOfArm)) {
      test(`${arm}: ${figure} lies in ${low}–${high}`, () => {
        const value = figures[arm]![figure as keyof ArmFigures];
        expect(value).toBeGreaterThanOrEqual(low);
        expect(value).toBeLessThanOrEqual(high);
      });
    }
  }

  test.each([
    ["treatment", 0.25, 0.37],
    ["budgeted", 0.07, 0.14],
  ] as const)("%s takes between %d and %d longer than control", (arm, low, high) => {
    const change = figures[arm]!.duration / figures["control"]!.duration - 1;
    expect(change).toBeGreaterThanOrEqual(low);
    expect(change).toBeLessThanOrEqual(high);
  });
});

describe("cap by habit, 30 replicates", () => {
  let figures: Record<string, ArmFigures>;
  beforeAll(() => {
    figures = figuresOf(loadPanel("cap-by-habit", { replicates: 30 }));
  }, 300_000);

  const base = "cap-10.habit-short.slice-none.budget-untold";

  // Duration is the change against the base arm, in percentage points; its tolerance depends on the habit.
  test.each([
    ["cap-30.habit-short.slice-none.budget-untold", 184, 229, 78, 0, -0.4, 0.7],
    ["cap-240.habit-short.slice-none.budget-untold", 30, 56, 28, 0.1, 2.4, 0.7],
    ["cap-10.habit-long.slice-none.budget-untold", 430, 446, 99, 4.3, 31, 7],
    ["cap-240.habit-long.slice-none.budget-told", 46, 40, 28, 2.8, 31, 7],
    ["cap-240.habit-long.slice-240.budget-untold", 30, 85, 28, 0.2, 11, 2.5],
  ] as const)("%s agrees with the computation", (arm, returned, waits, users, timeouts, change, tolerance) => {
    const found = figures[arm]!;
    expect(Math.abs(found.returnedRunning / returned - 1), "returned running").toBeLessThanOrEqual(0.15);
    expect(Math.abs(found.waitActions / waits - 1), "wait actions").toBeLessThanOrEqual(0.15);
    expect(Math.abs(found.users / users - 1), "users").toBeLessThanOrEqual(0.15);
    expect(Math.abs(found.timeouts - timeouts), "timeouts").toBeLessThanOrEqual(1.2);
    const points = (found.duration / figures[base]!.duration - 1) * 100;
    expect(Math.abs(points - change), "duration").toBeLessThanOrEqual(tolerance);
  });

  test("slice 240 never binds under the short habit: those arms are the same by design", () => {
    const { duration, waitActions } = figures["cap-240.habit-short.slice-240.budget-untold"]!;
    expect({ duration, waitActions }).toEqual({
      duration: figures["cap-240.habit-short.slice-none.budget-untold"]!.duration,
      waitActions: figures["cap-240.habit-short.slice-none.budget-untold"]!.waitActions,
    });
  });
});
