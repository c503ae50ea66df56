/** What a trial costs, from its events to the file: not a millionth of a dollar is lost on the way. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { TrialEvent } from "../../src/agent/events.ts";
import { digestOf, hex16 } from "../../src/telemetry/digest.ts";
import { foldTrial, openInvocations, openRequests, openTrials, openWaits } from "../../src/telemetry/rows.ts";
import { openStore, readStore } from "../../src/telemetry/store.ts";
import type { Batch } from "../../src/telemetry/table.ts";
import { TABLES } from "../../src/telemetry/tables.ts";
import { answered, asked, began, lasting, served, submitted } from "./told.ts";

const folder = mkdtempSync(join(tmpdir(), "yieldpoint-paid-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const dictionaries = { experiment: ["it"], arm: ["arm"], scenario: ["scenario"], command: ["pytest -q"] };

/** A trial of so many requests that cost so much each. */
function folded(requests: number, cost: number) {
  const events: TrialEvent[] = [began()];
  for (let request = 1; request <= requests; request += 1) {
    const from = 1_000 * (request - 1);
    events.push(asked(from, request, "work", { prompt: 1_000, cacheWrite: 1_000, cost, pauseTax: 1, hit: false }));
    events.push(answered(from + 1_000, request, served({ queued: lasting(1) })));
  }
  const endedAt = 1_000 * requests;
  events.push(submitted(endedAt));
  const [trials, invocations, waits, own] = [
    openTrials(dictionaries),
    openInvocations(dictionaries),
    openWaits(dictionaries),
    openRequests(dictionaries),
  ];
  const facts = { trialId: 1, experimentId: "it", arm: "arm", scenario: "scenario", kind: "quick" } as const;
  foldTrial(
    events,
    { ...facts, replicate: 1, pairKey: 1, startedAt: 0, endedAt, concurrency: 1, grade: null },
    trials,
    { invocations, waits, requests: own },
  );
  return { trials, requests: own };
}

describe("the requests of a trial", () => {
  test("lie in the file as they were folded, and add up to the trial's own row to the millionth", async () => {
    const path = join(folder, "paid.duckdb");
    const store = await openStore(path, TABLES, dictionaries);
    const { trials, requests } = folded(3_000, 333_333);
    await store.appendWorlds([trials, requests] as readonly Batch[]);
    await store.close();
    const file = await readStore(path);
    try {
      expect(
        await file.rows(`SELECT count(*)::INTEGER AS requests, sum(cost_usd)::VARCHAR AS cost, sum(pause_tax_usd)::VARCHAR AS tax,
          sum(queued_seconds)::DOUBLE AS queued, max(request_index) AS last, count(*) FILTER (NOT cache_hit)::INTEGER AS missed FROM provider_requests`),
      ).toEqual([{ requests: 3_000, cost: "999.999000", tax: "0.003000", queued: 3, last: 3_000, missed: 3_000 }]);
      expect(
        await file.rows(
          "SELECT cost_usd::VARCHAR AS cost, pause_tax_usd::VARCHAR AS tax, provider_queue_seconds AS queued, cache_write_tokens AS written FROM trials",
        ),
      ).toEqual([{ cost: "999.999000", tax: "0.003000", queued: 3, written: 3_000_000 }]);
      expect(await file.rows("SELECT cost_usd FROM provider_requests LIMIT 1")).toEqual([{ cost_usd: 0.333333 }]);
      expect(
        await file.rows(
          "SELECT data_type, comment FROM duckdb_columns() WHERE table_name = 'provider_requests' AND column_name = 'cost_usd'",
        ),
      ).toEqual([{ data_type: "DECIMAL(15,6)", comment: "of the request, whether or not its answer came [USD]" }]);
    } finally {
      await file.close();
    }
  });

  test("are in the digest, and so is each millionth of what they cost", () => {
    const digests = [folded(2, 100), folded(2, 101), folded(3, 100)].map(({ requests }) => hex16(digestOf(requests)));
    expect(new Set(digests).size).toBe(3);
    expect(hex16(digestOf(folded(2, 100).requests))).toBe(digests[0]);
    expect(hex16(digestOf(folded(2, 101).trials))).not.toBe(hex16(digestOf(folded(2, 100).trials)));
  });
});
