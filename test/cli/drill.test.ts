/** The trials that a report goes into: which they are, that their moments are those of the run, and that nothing else changes for it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Reading, readStore } from "../../src/telemetry/store.ts";
import { yieldpoint } from "../program.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "yieldpoint-drill-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a panel and asks its tables. */
async function asked<Answer>(words: readonly string[], ask: (tables: Reading) => Promise<Answer>) {
  const out = mkdtempSync(join(folder, "out-"));
  const { code, stderr } = yieldpoint(["run", ...words, "--out", out]);
  expect([0, 1], stderr).toContain(code);
  const tables = await readStore(join(out, "experiment.duckdb"));
  try {
    return await ask(tables);
  } finally {
    await tables.close();
  }
}

const MOMENTS = `SELECT trial_id, arm::VARCHAR AS arm, replicate, event_index, at_seconds::DOUBLE AS at, event::VARCHAR AS event, call_index,
  request_index, process_id, until_seconds::DOUBLE AS until, journal FROM events WHERE trial_id IS NOT NULL`;

describe("the trials that a report goes into", () => {
  const words = ["panels/long-tail.yaml", "--replicates", "2"];

  test("have the very moments that a run at --detail events writes down, at every detail", async () => {
    const drilled = await asked(words, (tables) =>
      tables.rows<{ trial_id: number }>(`${MOMENTS} ORDER BY trial_id, event_index`),
    );
    const ids = [...new Set(drilled.map(({ trial_id }) => trial_id))];
    expect(ids.length).toBeGreaterThan(0);
    const whole = await asked([...words, "--detail", "events"], (tables) =>
      tables.rows(`${MOMENTS} AND trial_id IN (${ids.join(", ")}) ORDER BY trial_id, event_index`),
    );
    expect(drilled).toEqual(whole);
    const plain = await asked([...words, "--detail", "trials"], (tables) =>
      tables.rows(`${MOMENTS} ORDER BY trial_id, event_index`),
    );
    expect(plain).toEqual(drilled);
  }, 120_000);

  test("are few and whole pairs: nothing that was left out differs more in being cut off", async () => {
    const answer = await asked(words, async (tables) => ({
      pairs: await tables.rows<{ drilled: boolean; trials: number; kept: number; apart: number }>(
        `SELECT bool_or(e.trial_id IS NOT NULL) AS drilled, count(*)::INTEGER AS trials, count(e.trial_id)::INTEGER AS kept,
          max(outer_timeout::INTEGER) - min(outer_timeout::INTEGER) AS apart
         FROM trials AS t LEFT JOIN (SELECT DISTINCT trial_id FROM events) AS e USING (trial_id) GROUP BY pair_key`,
      ),
      rows: await tables.rows<{ rows: number }>(`SELECT sum(rows)::INTEGER AS rows FROM worlds`),
      counted: await tables.rows<{ rows: number }>(
        `SELECT ((SELECT count(*) FROM trials) + (SELECT count(*) FROM shell_invocations) + (SELECT count(*) FROM process_waits)
          + (SELECT count(*) FROM provider_requests) + (SELECT count(*) FROM notices))::INTEGER AS rows`,
      ),
    }));
    const drilled = answer.pairs.filter((pair) => pair.drilled);
    expect(drilled.every(({ trials, kept }) => trials === kept)).toBe(true);
    const kept = drilled.reduce((sum, pair) => sum + pair.kept, 0);
    expect(kept).toBeGreaterThanOrEqual(6);
    expect(kept).toBeLessThanOrEqual(48);
    const most = (pairs: readonly { apart: number }[]) => Math.max(...pairs.map(({ apart }) => apart));
    expect(most(drilled)).toBe(1);
    // Events that are there for the report alone are no rows of a world.
    expect(answer.rows).toEqual(answer.counted);
  }, 120_000);
});
