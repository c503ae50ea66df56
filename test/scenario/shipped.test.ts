import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expected, settingKeys, settingsTable, writtenDefaults } from "../../src/policy/settings.ts";
import { seconds } from "../../src/policy/time.ts";
import { MEASURES } from "../../src/report/measures.ts";
import { budgetInWords } from "../../src/scenario/arm.ts";
import { inText, jsonSchemas } from "../../src/scenario/jsonSchema.ts";
import { lintFile } from "../../src/scenario/lint.ts";
import {
  loadPanel,
  loadPolicy,
  loadProfile,
  loadScenario,
  shippedArms,
  shippedPolicies,
} from "../../src/scenario/load.ts";
import { measureNames } from "../../src/scenario/measures.ts";
import { packageRoot } from "../../src/scenario/names.ts";
import { settingsSchema } from "../../src/scenario/schema.ts";
import { profileIn } from "../../src/scenario/situation.ts";

const folders = [
  "scenarios",
  "scenarios/cases",
  "panels",
  "panels/cases",
  "panels/policies",
  "panels/profiles",
  "panels/providers",
];
const files = folders.flatMap((folder) =>
  readdirSync(join(packageRoot, folder))
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => `${folder}/${file}`),
);

describe("what ships", () => {
  test.each(files)("%s has no fault, and no warning but of what a panel cannot show", (file) => {
    const { kind, faults, warnings } = lintFile(join(packageRoot, file));
    expect(faults).toEqual([]);
    // What a policy leaves open is its runtime's way, and told of each (leftOpen.test.ts).
    if (kind === "policy") return;
    expect(kind === "panel" ? loadPanel(join(packageRoot, file)).warnings : warnings).toEqual([]);
  });

  test("the headline panel is told what its own caveat says, and the crossed one has nothing to be told", () => {
    expect(lintFile(join(packageRoot, "panels/deepswe-headline.yaml")).warnings).toEqual([
      "panels/deepswe-headline.yaml:9:10: factors leaves open what cap, habit, slice and budget do by themselves: no two arms differ in one of them alone; cross the factors, or add arms between",
    ]);
    expect(lintFile(join(packageRoot, "panels/cap-by-habit.yaml")).warnings).toEqual([]);
  });

  test.each(files)("%s says which schema an editor can check it by", (file) => {
    const [first] = readFileSync(join(packageRoot, file), "utf8").split("\n");
    const schema = /^# yaml-language-server: \$schema=(.*)$/.exec(first!)?.[1];
    expect(existsSync(join(packageRoot, file, "..", schema!))).toBe(true);
  });

  test("the note's three arms are the note's", () => {
    const told = shippedArms().map(({ arm, profile, settings, budget }) => ({
      arm,
      habit: profile.profile,
      cap: settings.foregroundAutoAwaitMax,
      slice: settings.processWaitSlice,
      reserve: settings.finalizationReserve,
      budget: budgetInWords(budget),
    }));
    expect(told).toEqual([
      { arm: "control", habit: "short", cap: 0, slice: null, reserve: seconds(600), budget: "untold" },
      { arm: "treatment", habit: "long", cap: seconds(240), slice: null, reserve: seconds(600), budget: "untold" },
      { arm: "budgeted", habit: "long", cap: seconds(240), slice: seconds(240), reserve: seconds(600), budget: "told" },
    ]);
  });

  test("the policy called shipped is every default", () => {
    expect(loadPolicy("shipped").written).toEqual(writtenDefaults);
    expect(shippedPolicies().map(({ policy }) => policy)).toEqual(
      expect.arrayContaining(["budgeted", "control", "shipped", "treatment"]),
    );
  });

  test("the headline panel compares the three arms on 113 tasks in 30 replicates", () => {
    const { source, arms, replicates, concurrencyPerArm, published, crossed, exhibits } = loadPanel("deepswe-headline");
    expect("population" in source && source.population.tasks).toBe(113);
    expect(arms.map(({ arm }) => arm)).toEqual(["control", "treatment", "budgeted"]);
    expect({ replicates, concurrencyPerArm, crossed, published: published.length }).toEqual({
      replicates: 30,
      concurrencyPerArm: 8,
      crossed: false,
      published: 14,
    });
    expect(exhibits.map(({ scenario }) => scenario)).toEqual(["hung-test-run"]);
  });

  test("the crossed panel has an arm for each combination", () => {
    const { arms, crossed } = loadPanel("cap-by-habit");
    expect(crossed).toBe(true);
    expect(arms).toHaveLength(4 * 2 * 2 * 2);
    const last = arms.at(-1)!;
    expect(last.arm).toBe("cap-240.habit-long.slice-240.budget-told");
    expect(last.factors).toEqual({ cap: "240", habit: "long", slice: "240", budget: "told" });
    expect(last.written).toEqual({
      ...writtenDefaults,
      foreground_auto_await_max_seconds: 240,
      process_wait_slice_seconds: 240,
    });
  });

  test("in the trace, the habit of long waits is a certainty, and everything else of it stays", () => {
    const { model } = loadScenario("hung-test-run");
    const long = loadProfile("long");
    expect(profileIn(model, long)).toEqual({ ...long, waits: [{ from: 1, length: seconds(3_600) }] });
  });

  test("an inputs list names every file that a panel is made of, wherever the package lies", () => {
    expect(loadPanel("deepswe-headline").inputs.map(({ path }) => path)).toEqual([
      "panels/arms.yaml",
      "panels/deepswe-headline.yaml",
      "panels/policies/budgeted.yaml",
      "panels/policies/control.yaml",
      "panels/policies/treatment.yaml",
      "panels/profiles/long.yaml",
      "panels/profiles/short.yaml",
      "scenarios/deepswe-like.yaml",
      "scenarios/hung-test-run.yaml",
    ]);
  });
});

describe("schemas", () => {
  test.each(Object.entries(jsonSchemas()))(
    "scenarios/schema/%s is current; otherwise: npm run build && npm run schemas",
    (file, schema) => {
      expect(readFileSync(join(packageRoot, "scenarios/schema", file), "utf8")).toBe(inText(schema));
    },
  );

  test("there are no others", () => {
    expect(readdirSync(join(packageRoot, "scenarios/schema")).sort()).toEqual(Object.keys(jsonSchemas()).sort());
  });

  test("of settings are the policy's one table, key by key", () => {
    expect(Object.keys(settingsSchema.shape)).toEqual(settingKeys);
    for (const key of settingKeys) {
      const setting = settingsTable[key];
      expect(settingsSchema.safeParse({ [key]: setting.default }).success, key).toBe(true);
      const issue = settingsSchema.safeParse({ [key]: [] }).error?.issues[0];
      expect(issue?.message, key).toBe(`is a list: expected ${expected(setting)}`);
    }
  });

  test("of settings accept the ends of each range and nothing beyond", () => {
    const accepts = (key: string, value: unknown) => settingsSchema.safeParse({ [key]: value }).success;
    for (const key of settingKeys) {
      const setting = settingsTable[key];
      if (!("range" in setting)) continue;
      const [least, most] = setting.range;
      expect(
        [least, most, least - 0.001, most + 1].map((value) => accepts(key, value)),
        key,
      ).toEqual([true, true, false, false]);
      expect(accepts(key, "none"), key).toBe(setting.kind === "slice" || setting.optional);
    }
  });
});

test("the measures that a panel can name are those that the report knows, and no others", () => {
  const known = MEASURES.filter(({ derived }) => derived !== true).map(({ measure }) => measure);
  expect([...measureNames].sort()).toEqual(known.sort());
});
