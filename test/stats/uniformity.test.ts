import fc from "fast-check";
import { expect, test } from "vitest";
import { rejections, uniformity } from "../../src/stats/uniformity.ts";

const p = fc.double({ min: 0, max: 1, noNaN: true });

test("p-values in any order, or turned round, are as uniform as before", () => {
  fc.assert(
    fc.property(fc.array(p, { minLength: 1, maxLength: 60 }), (ps) => {
      const found = uniformity(ps);
      expect(uniformity(ps.toReversed())).toEqual(found);
      expect(uniformity(ps.map((one) => 1 - one)).distance).toBeCloseTo(found.distance, 12);
      expect(found.p >= 0 && found.p <= 1).toBe(true);
      expect(found.distance).toBeGreaterThanOrEqual(0.5 / ps.length - 1e-12);
    }),
  );
});

test("p-values that keep their places as well as can be are no surprise; all at one end are a great one", () => {
  const even = Array.from({ length: 100 }, (_, at) => (at + 0.5) / 100);
  expect(uniformity(even)).toEqual({ distance: expect.closeTo(0.005, 12), p: expect.closeTo(1, 9), n: 100 });
  expect(uniformity(even.map((one) => one / 10)).p).toBeLessThan(1e-12);
});

test("a larger sample's exact p-value goes on where the approximation begins", () => {
  // d²n is 3.76 at a distance of 0.19391: exact just under it, approximated just above.
  const shifted = (shift: number) => Array.from({ length: 100 }, (_, at) => Math.max(0, (at + 1) / 100 - shift));
  const [exact, approximated] = [uniformity(shifted(0.1938)), uniformity(shifted(0.194))];
  expect(exact.p).toBeGreaterThan(approximated.p);
  expect(exact.p / approximated.p).toBeLessThan(1.05);
});

test("rejections at the level of 5 % are too many at 70 of 1,000, and not at 62", () => {
  const at = (rejected: number) =>
    rejections([...Array(rejected).fill(0.05), ...Array(1_000 - rejected).fill(0.06)], 0.05);
  expect(at(70)).toEqual({
    rate: expect.objectContaining({ value: 0.07, n: 1_000 }),
    // R: binom.test(70, 1000, .05, "greater")
    tooMany: expect.closeTo(0.00347436, 6),
  });
  expect(at(62).tooMany).toBeGreaterThan(0.025);
});

test("what is no p-value is refused", () => {
  expect(() => uniformity([0.2, 1.1])).toThrow("a p-value lies from 0 to 1, and one of these is 1.1");
  expect(() => uniformity([])).toThrow("p-values are compared with a uniform distribution; there are none");
});
