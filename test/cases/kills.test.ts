/** Public reports about what was ended, what was not, and what was started twice: under the faulty way and under the right one. */
import { describe, expect, test } from "vitest";
import { type Observed, observed, the } from "./observed.ts";

describe("C09: a development server in the foreground", () => {
  const all = observed("c09-server-in-the-foreground");

  test("never gives control back, where nothing ends the hold", () => {
    expect(the(all, "faulty")).toMatchObject({ control: [], outerTimeout: true, seconds: 1_800, reward: 0 });
  });

  test("is dead after 302 s, where silence ends it", () => {
    const dead = [{ status: "timed_out", exitCode: null, seconds: 302 }];
    expect(the(all, "faulty-and-silent")).toMatchObject({ execs: dead, probes: 5, serves: false, reward: 0 });
  });

  test("is handed back alive after a minute, and answers", () => {
    expect(the(all, "right")).toMatchObject({ control: [60], probes: 1, serves: true, reward: 1, outerTimeout: false });
  });
});

describe("C13: silence with CPU and without", () => {
  const all = observed("c13-asleep-or-at-work");

  test("by its existence the sleeper is waited for until the end of the run", () => {
    expect(the(all, "faulty", "asleep")).toMatchObject({ outerTimeout: true, left: 1 });
    expect(the(all, "faulty", "at-work")).toMatchObject({ outerTimeout: false, reward: 1 });
  });

  test("by its output the sleeper is found, and good work killed", () => {
    expect(the(all, "faulty-and-silent", "asleep")).toMatchObject({ outerTimeout: false, left: 0 });
    expect(the(all, "faulty-and-silent", "at-work")).toMatchObject({ finalized: true, reward: 0 });
  });

  test("by its CPU the sleeper is stopped within 120 s, and the suite left alone", () => {
    const asleep = the(all, "right", "asleep");
    expect(asleep.control).toEqual([30, 102]);
    // It stops it one step later.
    expect(asleep).toMatchObject({ seconds: 60 + 102 + 12 + 300, left: 0 });
    expect(the(all, "right", "at-work")).toMatchObject({ outerTimeout: false, reward: 1 });
  });
});

describe("C17: a limit of five seconds", () => {
  const all = observed("c17-five-seconds");

  test("is none where it reaches the shell alone: the call never comes back", () => {
    expect(the(all, "faulty")).toMatchObject({ control: [], outerTimeout: true, seconds: 600 });
  });

  test("ends the tree at five seconds", () => {
    const ended = [{ status: "timed_out", exitCode: null, seconds: 5 }];
    expect(the(all, "right")).toMatchObject({ execs: ended, survivors: 0, left: 0, outerTimeout: false });
  });
});

describe("C20: what becomes of a command at its timeout", () => {
  const all = observed("c20-two-fates");
  const fate = (arm: string, scenario: string) => {
    const { execs, control, reward } = the(all, arm, scenario);
    return [execs.map(({ status }) => status), control, reward];
  };
  const lives = [["running"], [120, 150], 1];

  test("hangs on its spelling, where a rule reads its line", () => {
    expect(fate("faulty", "one-spelling")).toEqual(lives);
    expect(fate("faulty", "another-spelling")).toEqual([["timed_out"], [120], 0]);
  });

  test("does not where none does", () => {
    expect(fate("right", "one-spelling")).toEqual(lives);
    expect(fate("right", "another-spelling")).toEqual(lives);
  });

  test("and a failure after it is reported as one", () => {
    expect(the(all, "right", "fails-late")).toMatchObject({ control: [600, 650], ends: [1] });
  });
});

describe("C32: a command that its model takes not to have started", () => {
  const all = observed("c32-still-running");
  const started = (arm: string) => the(all, arm).execs.filter(({ status }) => status === "running").length;

  test("is started eleven times where nothing is said of it", () => {
    expect(started("faulty")).toBe(11);
  });

  test("twice where the second result says that there are two, once where it is pointed to the first", () => {
    expect(started("flagged")).toBe(2);
    expect(started("right")).toBe(1);
    expect(the(all, "right")).toMatchObject({ reward: 1, left: 0 });
  });
});

describe("C47: five healthy suites, and one that hangs, all silent", () => {
  const all = observed("c47-healthy-and-hung");
  /** Of what was ended, how much hung; of what hung, how much was ended; and what was lost. */
  const judged = ({ killed, stopped }: Observed) => {
    const alarms = [...killed, ...stopped];
    const found = alarms.filter(({ process }) => process === 4);
    const lost = alarms.filter(({ process }) => process !== 4).map(({ after }) => after);
    return {
      precision: found.length / alarms.length,
      recall: found.length,
      seconds: found[0]?.after,
      lost: lost.reduce((sum, after) => sum + after, 0),
    };
  };

  test.each(["faulty", "faulty-and-silent"])("one true alarm in six, and 1,500 s of work lost (%s)", (arm) => {
    expect(judged(the(all, arm))).toEqual({ precision: 1 / 6, recall: 1, seconds: 300, lost: 1_500 });
    expect(the(all, arm).reward).toBe(0);
  });

  test("with an eye on CPU there is one alarm, a true one, after 174 s, and nothing is lost", () => {
    expect(judged(the(all, "right"))).toEqual({ precision: 1, recall: 1, seconds: 30 + 12 + 120 + 12, lost: 0 });
    expect(the(all, "right").reward).toBe(1);
  });
});
