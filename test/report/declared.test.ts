import { describe, expect, test } from "vitest";
import { type Decided, decide, declaration } from "../../src/report/declared.ts";
import type { Difference, Estimated } from "../../src/report/estimates.ts";
import type { Hypothesis } from "../../src/report/experiment.ts";
import { measureCalled } from "../../src/report/measures.ts";

const around = (low: number, high: number): Estimated => ({ value: (low + high) / 2, low, high, n: 10 });

/** A difference with this interval, and one of the relative change. */
function difference(own: Estimated, relative: Estimated | null): Difference {
  return {
    measure: measureCalled("duration_seconds")!,
    arm: "a",
    against: "b",
    ...own,
    relative,
    bootstrap: null,
    permutation: null,
    refusal: null,
    p: null,
    pairing: () => null,
    detectable: () => null,
  };
}

const declares = (more: Partial<Hypothesis>): Hypothesis => ({
  measure: "duration_seconds",
  arm: "a",
  against: "b",
  expect: "lower",
  ...more,
});

describe("a declared margin", () => {
  const judged = (more: Partial<Hypothesis>, low: number, high: number) =>
    (decide(declares(more), difference(around(low * 1_000, high * 1_000), around(low, high))) as Decided).verdict;

  test.each<[Partial<Hypothesis>, number, number, string]>([
    // Not higher by more than 1 %: the upper end decides.
    [{ expect: "not_higher", margin: 0.01 }, -0.02, 0.01, "PASS"],
    [{ expect: "not_higher", margin: 0.01 }, -0.02, 0.0101, "NOT SHOWN"],
    [{ expect: "not_higher", margin: 0.01 }, 0.01, 0.05, "NOT SHOWN"],
    [{ expect: "not_higher", margin: 0.01 }, 0.0101, 0.05, "FAIL"],
    // Not lower by more than 1 %: the lower end does.
    [{ expect: "not_lower", margin: 0.01 }, -0.01, 0.4, "PASS"],
    [{ expect: "not_lower", margin: 0.01 }, -0.0101, 0.4, "NOT SHOWN"],
    [{ expect: "not_lower", margin: 0.01 }, -0.05, -0.0101, "FAIL"],
    // Without a margin nothing is allowed.
    [{ expect: "not_higher" }, -0.02, 0, "PASS"],
    [{ expect: "not_higher" }, 0, 0, "PASS"],
    [{ expect: "not_higher" }, -0.02, 0.0001, "NOT SHOWN"],
    [{ expect: "not_lower" }, -0.02, -0.01, "FAIL"],
    // In the measure's own unit: of 1,000 times as much here.
    [{ expect: "not_higher", margin_absolute: 10 }, -0.02, 0.01, "PASS"],
    [{ expect: "not_higher", margin_absolute: 10 }, 0.0101, 0.02, "FAIL"],
    // At least 80 % lower: all of the interval lies beyond.
    [{ expect: "lower", by: 0.8 }, -0.95, -0.8, "PASS"],
    [{ expect: "lower", by: 0.8 }, -0.95, -0.79, "NOT SHOWN"],
    [{ expect: "lower", by: 0.8 }, -0.79, -0.5, "FAIL"],
    [{ expect: "higher", by: 0.5 }, 0.5, 0.9, "PASS"],
    [{ expect: "higher", by: 0.5 }, 0.1, 0.49, "FAIL"],
  ])("%j against %d to %d: %s", (more, low, high, verdict) => {
    expect(judged(more, low, high)).toBe(verdict);
  });

  test("as a share of nothing is nothing", () => {
    const more = { expect: "not_higher", margin: 0.5 } as const;
    expect(decide(declares(more), difference(around(0, 0), null))).toMatchObject({ verdict: "PASS", by: "difference" });
    expect(decide(declares(more), difference(around(1, 2), null))).toMatchObject({ verdict: "FAIL", bound: 0 });
    expect(decide(declares({ by: 0.8 }), difference(around(1, 2), null))).toEqual({
      why: "the other arm's value is 0, and nothing is a share of that",
    });
  });

  test("needs an interval, and says why where there is none", () => {
    const bare = { value: 1, low: null, high: null, n: 1 };
    const none = { ...difference(bare, bare), refusal: "one cluster" };
    for (const more of [{ expect: "not_higher", margin: 0.1 }, { by: 0.5 }, {}] as const)
      expect(decide(declares(more), none)).toEqual({ why: "one cluster" });
    const half = difference(around(1, 2), bare);
    expect(decide(declares({ expect: "not_higher", margin: 0.1 }), half)).toHaveProperty("why");
    expect(decide(declares({ by: 0.1 }), half)).toHaveProperty("why");
  });

  test("stands where the interval is held against it", () => {
    const found = difference(around(-300, -100), around(-0.3, -0.1));
    const bound = (more: Partial<Hypothesis>) => decide(declares(more), found);
    expect(bound({ by: 0.2 })).toMatchObject({ by: "relative", bound: -0.2 });
    expect(bound({ expect: "not_lower", margin: 0.2 })).toMatchObject({ by: "relative", bound: -0.2 });
    expect(bound({ expect: "not_higher", margin_absolute: 20 })).toMatchObject({ by: "difference", bound: 20 });
    expect(bound({})).toMatchObject({ verdict: "PASS", by: "difference", bound: 0 });
  });
});

test("what is declared is said in words", () => {
  const said = (more: Partial<Hypothesis>, unit: Parameters<typeof declaration>[1] = "s") =>
    declaration(declares(more), unit);
  expect([
    said({}),
    said({ by: 0.8 }),
    said({ expect: "not_higher" }),
    said({ expect: "not_lower", margin: 0.005 }),
    said({ expect: "not_higher", margin_absolute: 0.5 }),
    said({ expect: "not_lower", margin_absolute: 0.02 }, "share"),
    said({ expect: "not_higher", margin_absolute: 0.02 }, "USD"),
    said({ expect: "zero" }),
  ]).toEqual([
    "lower",
    "at least 80 % lower",
    "not higher",
    "at most 0.5 % lower",
    "at most 0.5 s higher",
    "at most 2 points lower",
    "at most 0.02 USD higher",
    "0 in every trial",
  ]);
});
