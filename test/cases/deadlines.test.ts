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
