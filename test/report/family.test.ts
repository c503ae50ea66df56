import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Difference, Estimates } from "../../src/report/estimates.ts";
import type { Experiment, Hypothesis } from "../../src/report/experiment.ts";
import { judgeHypotheses } from "../../src/report/judged.ts";
import { measureCalled } from "../../src/report/measures.ts";
import { studentQuantile } from "../../src/stats/distributions.ts";
import { holm } from "../../src/stats/multiple.ts";

const N = 20;
const reach = studentQuantile(0.975, N - 1);

/** A difference whose value is so many standard errors away from none. */
function apart(errors: number, arm: string): Difference {
  return {
    measure: measureCalled("duration_seconds")!,
    arm,
    against: "b",
    value: errors,
    low: errors - reach,
    high: errors + reach,
    n: N,
    relative: null,
    bootstrap: null,
    permutation: null,
    refusal: null,
    p: null,
    pairing: () => null,
    detectable: (level) => 2.8 / level,
  };
}

/** Judges as many hypotheses as differences: each expects its arm to be lower. */
function judged(errors: readonly number[], zeros = 0) {
  const differences = new Map(errors.map((by, at) => [`arm ${at}`, apart(by, `arm ${at}`)]));
  const hypotheses: readonly Hypothesis[] = [
    ...[...differences.keys()].map(
      (arm) => ({ measure: "duration_seconds", arm, against: "b", expect: "lower" }) as const,
    ),
    ...Array.from({ length: zeros }, () => ({ measure: "duration_seconds", arm: "b", expect: "zero" }) as const),
  ];
  const experiment = {
    hypotheses,
    withheld: null,
    hasCalls: true,
    design: { by: "replicate", says: "" },
  } as unknown as Experiment;
  const estimates = { difference: (arm: string) => differences.get(arm) } as unknown as Estimates;
  const counted = new Map(
    hypotheses
      .filter(({ expect: declared }) => declared === "zero")
      .map((each) => [each, { all: 40, others: 0, farthest: 0 }]),
  );
  return judgeHypotheses(experiment, { among: () => estimates, zeros: counted }, (arm) => arm);
}

describe("hypotheses that stand beside one another", () => {
  test("are judged by Holm's p-values, whatever they are and however many", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -6, max: 6, noNaN: true }), { minLength: 1, maxLength: 8 }), (errors) => {
        const found = judged(errors);
        const adjusted = holm(found.map(({ chance }) => chance!.p));
        for (const [at, { verdict, chance }] of found.entries()) {
          expect(chance).toMatchObject({ adjusted: adjusted[at], family: errors.length });
          fc.pre(Math.abs(adjusted[at]! - 0.05) > 1e-6);
          expect(verdict).toBe(adjusted[at]! > 0.05 ? "NOT SHOWN" : errors[at]! < 0 ? "PASS" : "FAIL");
        }
      }),
    );
  });

  test("may not be shown together what each alone would show, and then say so", () => {
    const [alone] = judged([-2.3]);
    expect(alone).toMatchObject({ verdict: "PASS", detectable: null });
    expect(alone!.sentence).not.toContain("Holm");
    const together = judged([-2.3, -2.2, 0.4]);
    expect(together.map(({ verdict }) => verdict)).toEqual(["NOT SHOWN", "NOT SHOWN", "NOT SHOWN"]);
    expect(together[0]!.outcome).toBe("declared lower, not shown among 3 hypotheses, though alone it would be PASS");
    expect(together[0]!.sentence).toContain("Holm p = 0.099");
    expect(together[2]!.outcome).toBe("declared lower, not shown");
  });

  test("are not more by a zero, which is counted", () => {
    const found = judged([-2.3], 3);
    expect(found.map(({ verdict }) => verdict)).toEqual(["PASS", "PASS", "PASS", "PASS"]);
    expect(found.map(({ chance }) => chance?.family)).toEqual([1, undefined, undefined, undefined]);
  });

  test("say what would have been shown at the level of so many, where one is not", () => {
    expect(judged([0.1])[0]!.detectable).toBeCloseTo(2.8 / 0.05, 9);
    expect(judged([0.1, -5, 0.3, -9])[0]!.detectable).toBeCloseTo(2.8 / (0.05 / 4), 9);
  });
});
