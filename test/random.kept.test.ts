import { expect, test } from "vitest";
import { type Key, keyed, normalQuantile, pick } from "../src/random.ts";

/** Values for fixed keys. A change here changes every trial ever simulated: it is meant, and the changelog says so. */
const key: Key = [1, "hung-test-run", "pytest", 0, "seconds"].reduce(
  (narrowed: Key, part) => keyed.within(narrowed, part),
  keyed.seeded(17),
);

test("keys", () => {
  expect([keyed.seeded(0), keyed.seeded(1), keyed.seeded(-(2 ** 53)), key]).toMatchInlineSnapshot(`
    [
      {
        "high": 1414029720,
        "low": -1771336280,
      },
      {
        "high": 2090461082,
        "low": 2146055924,
      },
      {
        "high": 1563771758,
        "low": 1069256578,
      },
      {
        "high": -1100012095,
        "low": 149958824,
      },
    ]
  `);
});

test("uniforms", () => {
  expect([0, 1, 2, 2 ** 40].map((ordinal) => keyed.uniform(key, ordinal))).toMatchInlineSnapshot(`
    [
      0.965124623249243,
      0.26273204055125454,
      0.46282643421367153,
      0.40235313009425355,
    ]
  `);
});

test("normals", () => {
  expect([0, 1, 2].map((ordinal) => normalQuantile(keyed.uniform(key, ordinal)))).toMatchInlineSnapshot(`
    [
      1.813525861898581,
      -0.634945315119189,
      -0.09331556314772488,
    ]
  `);
});

test("picks of a hundred", () => {
  expect([0, 1, 2, 3, 4, 5].map((ordinal) => pick(keyed, key, 100, ordinal))).toMatchInlineSnapshot(`
    [
      96,
      26,
      46,
      45,
      26,
      3,
    ]
  `);
});

test("names beyond the Latin alphabet", () => {
  expect(keyed.within(key, "größte 測試 🧪")).toMatchInlineSnapshot(`
    {
      "high": -2047124229,
      "low": 469721134,
    }
  `);
});
