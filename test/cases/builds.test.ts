/** C23: one short timeout for every build, or one by class, within what is left of the run. */
import { describe, expect, test } from "vitest";
import { type Observed, observed, the } from "./observed.ts";

const all = observed("c23-build-timeouts");
const done = (arm: string, scenario: string) =>
  the(all, arm, scenario).execs.filter(({ status }) => status === "completed").length;
const killed = ({ execs }: Observed) => execs.filter(({ status }) => status === "timed_out");

describe("C23: of cold builds of 1, 45, 240 and 1,500 s", () => {
  const scenario = "of-every-length";

  test("30 s for everything lets one be done, 120 s two, a timeout by class all four", () => {
    expect(["faulty", "faulty-at-120", "by-class", "right"].map((arm) => done(arm, scenario))).toEqual([1, 2, 4, 4]);
    expect(["faulty", "faulty-at-120", "by-class", "right"].map((arm) => the(all, arm, scenario).reward)).toEqual([
      0.25, 0.5, 1, 1,
    ]);
  });

  test("each that is killed is begun again from nothing, twice: what is wasted is kills times limit", () => {
    for (const [arm, limit, kills] of [
      ["faulty", 30, 9],
      ["faulty-at-120", 120, 6],
    ] as const) {
      const ended = killed(the(all, arm, scenario));
      expect(ended).toHaveLength(kills);
      expect(ended.reduce((sum, { seconds }) => sum + seconds!, 0)).toBe(kills * limit);
    }
    expect(killed(the(all, "right", scenario))).toEqual([]);
  });

  test("a timeout that is cut at the reserve costs nothing, where there is time", () => {
    expect(the(all, "right", scenario)).toEqual({ ...the(all, "by-class", scenario), arm: "right" });
  });
});

describe("C23: in a pod that lives for 1,800 s", () => {
  const scenario = "in-a-pod";

  test("a class's 1,800 s hold the model beyond the end, and everything that was done is lost", () => {
    expect(the(all, "by-class", scenario)).toMatchObject({ outerTimeout: true, finalized: false, reward: 0 });
    expect(done("by-class", scenario)).toBe(3);
  });

  test("cut at the reserve, only the build that does not fit is given up", () => {
    const right = the(all, "right", scenario);
    expect(right).toMatchObject({ outerTimeout: false, finalized: true, reward: 0.75 });
    // It begins at 346 s, and the reserve at 1,200.
    expect(killed(right)[0]).toEqual({ status: "timed_out", exitCode: null, seconds: 854 });
  });

  test("one short timeout for everything ends in time, with less", () => {
    expect(the(all, "faulty", scenario)).toMatchObject({ outerTimeout: false, reward: 0.25 });
    expect(the(all, "faulty-at-120", scenario)).toMatchObject({ outerTimeout: false, reward: 0.5 });
  });
});

test("C23: the price of a class: tests that hang are held for 900 s, instead of 30 or 120", () => {
  const held = (arm: string) => the(all, arm, "tests-that-hang").longestGap;
  expect(["faulty", "faulty-at-120", "by-class", "right"].map(held)).toEqual([30, 120, 900, 900]);
  const ended = (arm: string) => the(all, arm, "tests-that-hang").seconds;
  expect(ended("right") - ended("faulty")).toBe(870);
});

test("C23: of builds as they come, 70 % are done within 30 s, 90 % within 120, and all of them by class", () => {
  const REPLICATES = 400;
  const found = Array.from({ length: REPLICATES }, (_, at) =>
    observed("c23-build-timeouts", at + 1).filter(({ scenario }) => scenario === "c23-mixture-of-builds"),
  ).flat();
  const share = (arm: string) => {
    const own = found.filter((each) => each.arm === arm);
    expect(own).toHaveLength(REPLICATES);
    return own.filter(({ reward }) => reward === 1).length / REPLICATES;
  };
  // Three standard errors of a share among so many.
  const within = (expected: number) => 3 * Math.sqrt((expected * (1 - expected)) / REPLICATES);
  expect(Math.abs(share("faulty") - 0.7)).toBeLessThan(within(0.7));
  expect(Math.abs(share("faulty-at-120") - 0.9)).toBeLessThan(within(0.9));
  expect(share("by-class")).toBe(1);
  expect(share("right")).toBe(1);
});
