import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { summarise } from "../../src/report/report.ts";
import { binomialCdf } from "../../src/stats/binomial.ts";
import { panelsOfChance, type Studied } from "../bench/panelsOfChance.ts";
import { folder } from "./folder.ts";
import { THREE_ARMS, writeSynthetic } from "./synthetic.ts";

const place = folder();

/** `npm run study` does the same a thousand times. */
const EXPERIMENTS = 60;

describe("panels of worlds that have nothing in common", () => {
  let studied: Studied;
  beforeAll(async () => {
    studied = await panelsOfChance({
      panel: fileURLToPath(new URL("../bench/alike.yaml", import.meta.url)),
      experiments: EXPERIMENTS,
      replicates: 10,
      database: join(place, "worlds.duckdb"),
    });
  });

  test("tell arms that are alike apart no oftener than the level allows, up to chance of one in a thousand", () => {
    const wrong = studied.alike.judged.filter((each) => each.some(({ verdict }) => verdict !== "NOT SHOWN"));
    expect(studied.alike.judged).toHaveLength(EXPERIMENTS);
    expect(1 - binomialCdf(wrong.length - 1, EXPERIMENTS, 0.05)).toBeGreaterThan(0.001);
    const small = studied.alike.judged.filter(([duration]) => duration!.p <= 0.5).length;
    expect(small).toBeGreaterThan(0.3 * EXPERIMENTS);
    expect(small).toBeLessThan(0.7 * EXPERIMENTS);
  });

  test("show an effect of the planned size about as often as planned, and never the contrary", () => {
    const verdicts = studied.planted.judged.map(([only]) => only!.verdict);
    const passed = verdicts.filter((verdict) => verdict === "PASS").length;
    // Four standard errors of a share of 0.8, and as much again for what the plan does not know.
    expect(passed).toBeGreaterThan(0.6 * EXPERIMENTS);
    expect(passed).toBeLessThan(0.97 * EXPERIMENTS);
    expect(verdicts).not.toContain("FAIL");
  });
});

test("a panel of two arms alike shows nothing, and one with a real effect beside it passes", async () => {
  const path = join(place, "alike.duckdb");
  const [control, treatment, budgeted] = THREE_ARMS;
  const lower = { measure: "duration_seconds", expect: "lower" };
  await writeSynthetic(path, {
    arms: [control!, treatment!, { ...treatment!, arm: "again" }, budgeted!],
    hypotheses: [
      { ...lower, arm: "again", against: "treatment" },
      { ...lower, arm: "budgeted", against: "treatment" },
    ],
    published: [],
  });
  const { hypotheses } = await summarise(path);
  expect(hypotheses.map(({ verdict }) => verdict)).toEqual(["NOT SHOWN", "PASS"]);
  // Without noise there is nothing to say how large a difference would have had to be.
  expect(hypotheses[0]).toMatchObject({ p: 1, effect: { value: 0, low: 0, high: 0 } });
  expect(hypotheses[0]!.minimal_detectable).toBeUndefined();
});

test("one replicate in which no trial of either arm is cut off says how large a difference it would have shown", async () => {
  const path = join(place, "one.duckdb");
  const [control, , budgeted] = THREE_ARMS;
  const lower = { measure: "outer_timeout", arm: "budgeted", against: "control", expect: "lower" };
  await writeSynthetic(path, {
    arms: [control!, budgeted!],
    tasks: 40,
    replicates: 1,
    hypotheses: [lower],
    published: [],
  });
  const [judged] = (await summarise(path)).hypotheses;
  expect(judged).toMatchObject({ verdict: "NOT SHOWN", p: 1, effect: { value: 0 } });
  // Six pairs of 40 have to differ, all one way, four times in five.
  expect(1 - binomialCdf(5, 40, judged!.minimal_detectable!)).toBeCloseTo(0.8, 6);
});
