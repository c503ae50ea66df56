import { expect, test } from "vitest";
import { keyed } from "../../src/random.ts";
import { bcaMeanDifference } from "../../src/stats/paired.ts";
import { signFlip } from "../../src/stats/signFlip.ts";

/** What the seeded statistics say of fixed data. A change here changes reports that somebody has already read. */
const key = keyed.within(keyed.seeded(17), "duration_seconds");
const differences = [3, -1, 4, -1, 5, 9, -2, 6, -5, 3, 5, -8, 9, 7, 9, -3];

test("a BCa interval", () => {
  const clusters = differences.map((sum, at) => ({ sum, n: 1 + (at % 3) }));
  expect(bcaMeanDifference(clusters, keyed, key)).toMatchInlineSnapshot(`
    {
      "confidence": 0.95,
      "high": 2.4814814814814814,
      "low": -0.125,
      "n": 16,
      "value": 1.2903225806451613,
    }
  `);
});

test("a sampled sign-flip test", () => {
  expect(signFlip(differences, keyed, key)).toMatchInlineSnapshot(`
    {
      "method": "sampled",
      "n": 16,
      "p": 0.08694565271736414,
    }
  `);
});
