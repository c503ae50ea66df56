import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Summary, writeReport } from "../../src/report/report.ts";
import { readStore } from "../../src/telemetry/store.ts";
import { folder } from "./folder.ts";
import { type Synthetic, writeSynthetic } from "./synthetic.ts";

const place = folder();

async function made(name: string, options: Synthetic) {
  const database = join(place, `${name}.duckdb`);
  await writeSynthetic(database, options);
  const summary = await writeReport(database, join(place, `${name}.html`));
  return { summary, database, page: readFileSync(join(place, `${name}.html`), "utf8") };
}

const hypotheses = [
  { measure: "reward", arm: "budgeted", against: "control", expect: "not_lower" },
  { measure: "duration_seconds", arm: "budgeted", against: "treatment", expect: "lower" },
];

/** In each replicate, the first trial of one arm. */
const fails = (arm: string, task: number) => arm === "budgeted" && task === 0;

test("trials that the infrastructure fails are left out with their pairs, and counted as failures beside", async () => {
  const { summary, database, page } = await made("failed", { fails, hypotheses });
  expect(summary.infrastructure_failures).toEqual({ control: 0, treatment: 0, budgeted: 10 });
  const tables = await readStore(database);
  const difference = async (those: string) => {
    const [row] = await tables.rows<{ value: number }>(
      `SELECT avg(t.duration_seconds::DOUBLE - c.duration_seconds::DOUBLE) AS value FROM trials AS t
       JOIN trials AS c USING (pair_key) WHERE t.arm = 'budgeted' AND c.arm = 'treatment' AND ${those}`,
    );
    return row!.value;
  };
  try {
    const [reward, duration] = summary.hypotheses as readonly [Summary["hypotheses"][0], Summary["hypotheses"][0]];
    expect(duration.effect!.value).toBeCloseTo(await difference("t.outcome <> 'infrastructure'"), 6);
    const { with_infrastructure_failures: counted } = duration;
    expect(counted!.effect!.value).toBeCloseTo(await difference("true"), 6);

    // Without them the arms earn alike; with them one in twenty of budgeted's trials earns nothing, in every replicate.
    expect(reward.effect!.value).toBe(0);
    expect(reward.verdict).toBe("PASS");
    expect(reward.with_infrastructure_failures).toMatchObject({ verdict: "FAIL", effect: { value: -0.05 } });
  } finally {
    await tables.close();
  }
  expect(page).toContain("10 trials of 600 ended because the infrastructure failed");
  expect(page).toContain("they change <strong>1 verdict</strong>");
});

test("nothing is said of such trials where there are none", async () => {
  const { summary, page } = await made("whole", { hypotheses });
  expect(summary.infrastructure_failures).toEqual({});
  expect(summary.hypotheses.map((each) => each.with_infrastructure_failures)).toEqual([undefined, undefined]);
  expect(page).not.toContain("Trials that the infrastructure failed");
});

test("where nothing is graded, a failure has no reward to lose", async () => {
  const { summary } = await made("ungraded", { fails, rewards: "none", hypotheses });
  expect(summary.hypotheses[0]).toMatchObject({ effect: null, with_infrastructure_failures: { effect: null } });
});
