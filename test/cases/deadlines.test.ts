/** Public reports about deadlines, waits for conditions, and ends: what was seen under the faulty way, and must be under the right one. */
import { describe, expect, test } from "vitest";
import { observed, the } from "./observed.ts";

describe("C17: a server that is ready after 95 s", () => {
  const all = observed("c17-condition-ready");

  test("takes ten looks and ten turns where each look is a call", () => {
    expect(the(all, "faulty")).toMatchObject({ probes: 10, conditionProbes: [], turns: 1 + 10 + 1, seconds: 100 });
  });

  test("takes ten looks and one turn where one call does the looking", () => {
    expect(the(all, "right")).toMatchObject({ probes: 0, conditionProbes: [10], turns: 1 + 1 + 1, seconds: 100 });
  });
});

describe("C38: a one-shot run ends its turn while a job of five minutes runs", () => {
  const all = observed("c38-one-shot");

  test("the job is ended at 25 s, and the run calls itself a success", () => {
    expect(the(all, "faulty")).toMatchObject({ swept: [25], finalized: true, reward: 0, seconds: 25 });
  });

  test("held open, the run lasts until the job is done, and ends nothing", () => {
    expect(the(all, "right")).toMatchObject({ swept: [], finalized: true, reward: 1, seconds: 308, left: 0 });
  });
});

describe("C40: a service that has to answer once the agent has gone", () => {
  const all = observed("c40-service-after-exit");

  test("is dead after a clean exit and alive after a timeout, where a clean exit ends everything", () => {
    expect(the(all, "faulty", "exits")).toMatchObject({ serves: false, left: 0, finalized: true, reward: 0 });
    expect(the(all, "faulty", "never-ends")).toMatchObject({ serves: true, outerTimeout: true, reward: 1 });
  });

  test("is alive where a clean exit ends nothing, and so is what nobody needs", () => {
    expect(the(all, "leaves", "exits")).toMatchObject({ serves: true, left: 2, reward: 1 });
  });

  test("is all that is left, where it was declared persistent", () => {
    expect(the(all, "right", "exits")).toMatchObject({ serves: true, left: 1, finalized: true, reward: 1 });
    expect(the(all, "right", "never-ends")).toMatchObject({ serves: true, outerTimeout: true, reward: 1 });
  });
});

describe("C04: six suites in half an hour", () => {
  const all = observed("c04-one-clock-message");

  test("the sixth begins at 1,644 s, and the run dies before its end", () => {
    const faulty = the(all, "faulty");
    expect(faulty.execs).toHaveLength(6);
    expect(faulty).toMatchObject({ outerTimeout: true, finalized: false, reward: 0, toldOfEnds: [] });
  });

  test("told at 75 % what is left, the model leaves the rest of them out and finishes", () => {
    const right = the(all, "right");
    expect(right).toMatchObject({ outerTimeout: false, finalized: true, reward: 1 });
    expect(right.toldOfEnds.length).toBeGreaterThanOrEqual(1);
    expect(right.toldOfEnds[0]![1]).toBeGreaterThanOrEqual(1_350);
    expect(right.toldOfEnds[0]![1]).toBeLessThan(1_361);
    expect(right.seconds).toBeLessThan(1_800);
  });

  test("the messages cost tokens, and no cached prefix", () => {
    expect([the(all, "faulty").misses, the(all, "right").misses]).toEqual([0, 0]);
  });
});

describe("C05: two hours of work, and one commit at the end", () => {
  const all = observed("c05-limit-without-warning");

  test("all of it is lost at a limit that nobody has spoken of", () => {
    expect(the(all, "faulty")).toMatchObject({ outerTimeout: true, committedAt: [], reward: 0, seconds: 7_200 });
  });

  test("told at 90 %, the model commits what stands: the limit is reached all the same, and costs the last tenth", () => {
    const right = the(all, "right");
    expect(right).toMatchObject({ outerTimeout: true, finalized: false, reward: 1, seconds: 7_200 });
    expect(right.committedAt).toHaveLength(1);
    expect(right.committedAt[0]).toBeGreaterThanOrEqual(6_480);
    expect(right.committedAt[0]).toBeLessThanOrEqual(6_504);
  });
});

describe("C07: a research job of twenty minutes", () => {
  const all = observed("c07-job-without-a-word");

  test("hands back nothing but its trail", () => {
    expect(the(all, "faulty")).toMatchObject({ jobs: [["trail", 1_200]], toldOfEnds: [] });
  });

  test("is told at 960 s, and hands back a part of the answer by 1,060", () => {
    expect(the(all, "right")).toMatchObject({ jobs: [["partial", 1_008]], toldOfEnds: [["wrap_up", 960]] });
  });

  test("that ignores it is ended as ever, and yields its last text", () => {
    expect(the(all, "ignores")).toMatchObject({ jobs: [["salvaged", 1_200]], toldOfEnds: [["wrap_up", 960]] });
  });
});
