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
