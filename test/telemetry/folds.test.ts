import { describe, expect, test } from "vitest";
import type { ProcessId } from "../../src/agent/effects.ts";
import type { TrialEvent } from "../../src/agent/events.ts";
import { eventOnPaper } from "../../src/telemetry/rows.ts";
import {
  aCommand,
  answered,
  asked,
  at,
  autoAwait,
  began,
  calls,
  cutOff,
  ended,
  exec,
  folded,
  jobBegan,
  jobEnded,
  lasting,
  left,
  returns,
  served,
  submitted,
} from "./told.ts";

const LEDGER = [
  "model_seconds",
  "provider_queue_seconds",
  "provider_retry_seconds",
  "initial_hold_seconds",
  "auto_await_seconds",
  "hard_hold_seconds",
  "process_wait_seconds",
  "other_tool_seconds",
  "idle_seconds",
] as const;

/** The parts of the ledger that have any time, in seconds. */
function ledgerOf({ trial }: ReturnType<typeof folded>): object {
  return Object.fromEntries(LEDGER.flatMap((part) => (trial[part] === 0 ? [] : [[part, trial[part]]])));
}

/** A trial of four requests: one that waits and is turned away, a poll that finds its prefix gone, a compaction, and one that is cut off. */
const paidFor: readonly TrialEvent[] = [
  began(),
  asked(0, 1, "work", { prompt: 20_000, uncached: 4_000, cacheWrite: 16_000, output: 500, cost: 79_500 }),
  answered(
    9_000,
    1,
    served({ queued: lasting(2_000), retrying: lasting(4_000), retries: 3, rateLimited: 2, firstToken: lasting(800) }),
  ),
  exec(9_000, 1, { background: true, held: "none" }),
  returns(9_000, 1),
  asked(9_000, 2, "poll", {
    prompt: 21_000,
    cacheRead: 0,
    cacheWrite: 21_000,
    output: 60,
    cost: 79_650,
    pauseTax: 55_200,
    hit: false,
  }),
  answered(10_000, 2, served({ firstToken: lasting(300), retries: 1, retrying: lasting(200) })),
  asked(10_000, 3, "compaction", {
    prompt: 22_000,
    cacheRead: 21_000,
    cacheWrite: 1_000,
    output: 900,
    cost: 23_550,
    hit: true,
  }),
  answered(14_000, 3, served()),
  asked(14_000, 4, "work", { prompt: 3_000, cacheWrite: 3_000, output: 100, cost: 12_750 }),
  cutOff(15_000),
];

describe("a row of provider_requests", () => {
  test("says all there is to say of a request that was answered", () => {
    expect(folded(paidFor, 15_000).requests[0]).toEqual({
      trial_id: 1,
      request_index: 1,
      purpose: "work",
      asked_seconds: 0,
      answered_seconds: 9,
      queued_seconds: 2,
      retrying_seconds: 4,
      first_token_seconds: 0.8,
      retries: 3,
      rate_limited: 2,
      failed: false,
      prompt_tokens: 20_000,
      uncached_tokens: 4_000,
      cache_write_tokens: 16_000,
      cache_read_tokens: 0,
      output_tokens: 500,
      cost_usd: 0.0795,
      pause_tax_usd: 0,
      cache_hit: null,
    });
    expect(folded(paidFor, 15_000).requests.map(({ cache_hit, pause_tax_usd }) => [cache_hit, pause_tax_usd])).toEqual([
      [null, 0],
      [false, 0.0552],
      [true, 0],
      [null, 0],
    ]);
  });

  test("of a request that was cut off is there all the same, with its price and without its answer", () => {
    expect(folded(paidFor, 15_000).requests[3]).toMatchObject({
      request_index: 4,
      asked_seconds: 14,
      answered_seconds: null,
      queued_seconds: null,
      retrying_seconds: null,
      first_token_seconds: null,
      retries: null,
      rate_limited: null,
      failed: null,
      output_tokens: 100,
      cost_usd: 0.01275,
    });
  });

  test("of a request that no attempt answered says so, and has no first token", () => {
    const service = served({ failed: true, retries: 5, retrying: lasting(60_000) });
    const events = [began(), asked(0, 1), answered(60_000, 1, service), failed(60_000)];
    const rows = folded(events, 60_000);
    expect(rows.requests[0]).toMatchObject({
      answered_seconds: 60,
      retrying_seconds: 60,
      first_token_seconds: null,
      retries: 5,
      failed: true,
    });
    expect(rows.trial).toMatchObject({
      outcome: "infrastructure",
      finalized: false,
      outer_timeout: false,
      reward: null,
    });
    expect(ledgerOf(rows)).toEqual({ provider_retry_seconds: 60 });
  });

  test("where no provider was asked has nothing to say of one", () => {
    const [row] = folded([began(), asked(0, 1), answered(5_000, 1), submitted(5_000)], 5_000).requests;
    expect(row).toMatchObject({ answered_seconds: 5, queued_seconds: null, retries: null, failed: null });
  });

  test("is that of its number, whatever order answers come in", () => {
    const events = [
      began(),
      jobBegan(0, "a"),
      jobBegan(0, "b"),
      asked(0, 1, "work", { prompt: 100 }),
      asked(1_000, 2, "work", { prompt: 200 }),
      asked(2_000, 3, "work", { prompt: 300 }),
      answered(3_000, 2),
      answered(4_000, 1),
      answered(7_000, 3),
      jobEnded(7_000, "a"),
      jobEnded(7_000, "b"),
      submitted(7_000),
    ];
    const { requests, trial } = folded(events, 7_000);
    const byNumber = requests.toSorted((a, b) => a.request_index - b.request_index);
    expect(byNumber.map((row) => [row.prompt_tokens, row.asked_seconds, row.answered_seconds])).toEqual([
      [100, 0, 4],
      [200, 1, 3],
      [300, 2, 7],
    ]);
    expect(trial).toMatchObject({ jobs_ended: 2, provider_calls: 3, model_seconds: 7 });
  });

  test("is nowhere where nobody counts tokens", () => {
    expect(folded([began(), submitted(1_000)], 1_000).requests).toEqual([]);
  });
});

const failed = (when: number): TrialEvent => ({ event: "provider_failed", at: at(when) });

describe("the row of a trial", () => {
  test("adds up what requests send, get and cost, the one that was cut off included", () => {
    expect(folded(paidFor, 15_000).trial).toMatchObject({
      outcome: "outer_timeout",
      provider_calls: 4,
      uncached_tokens: 4_000,
      cache_write_tokens: 16_000 + 21_000 + 1_000 + 3_000,
      cache_read_tokens: 21_000,
      output_tokens: 500 + 60 + 900 + 100,
      poll_tokens: 21_060,
      cost_usd: 0.19545,
      pause_tax_usd: 0.0552,
      peak_context_tokens: 22_000,
      compactions: 1,
      provider_retries: 4,
    });
  });

  test("splits the time of requests into queue, retries and the model at work", () => {
    expect(ledgerOf(folded(paidFor, 15_000))).toEqual({
      provider_queue_seconds: 2,
      provider_retry_seconds: 4.2,
      model_seconds: 15 - 2 - 4.2,
    });
  });

  test("has no tokens where nobody counted them, and a provider call for each tool call and act", () => {
    const events = [
      began(),
      exec(1_000, 1),
      returns(2_000, 1, { end: ended(2_000) }),
      { event: "committed", at: at(3_000) } as const,
      submitted(4_000),
    ];
    expect(folded(events, 4_000).trial).toMatchObject({
      provider_calls: 3,
      uncached_tokens: null,
      cache_write_tokens: null,
      cache_read_tokens: null,
      output_tokens: null,
      poll_tokens: null,
      cost_usd: null,
      pause_tax_usd: null,
      peak_context_tokens: null,
      compactions: null,
      provider_retries: null,
      model_seconds: 3,
      idle_seconds: 0,
    });
  });

  test("counts polls and probes, and a probe as a call", () => {
    const events = [
      began(),
      exec(0, 1),
      returns(10_000, 1),
      calls(10_000, 2, "wait"),
      returns(20_000, 2, { tool: "wait", process: 1 as ProcessId }),
      calls(20_000, 3, "status"),
      returns(20_000, 3, { tool: "status", process: 1 as ProcessId }),
      calls(20_000, 4, "read_output"),
      returns(20_000, 4, { tool: "read_output", process: 1 as ProcessId }),
      { event: "probed", at: at(20_000), call: 5, port: 8_000, answers: true } as const,
      calls(20_000, 6, "list"),
      returns(20_000, 6, { tool: "list", process: null, startedAt: null, status: null }),
      submitted(20_000),
    ];
    expect(folded(events, 20_000).trial).toMatchObject({ tool_calls: 6, polls: 3, probes: 1, wait_actions: 2 });
  });

  test("counts what was run again, once for each attempt after the first that was carried out", () => {
    const events = [
      began(),
      exec(0, 1),
      returns(10_000, 1),
      exec(20_000, 2, { attempt: 1 }),
      returns(30_000, 2),
      exec(40_000, 3, { attempt: 2, process: null }),
      { event: "call_refused", at: at(40_000), call: 3, why: "no" } as const,
      submitted(50_000),
    ];
    expect(folded(events, 50_000).trial).toMatchObject({ commands_rerun: 1 });
  });

  test("counts commands that a limit, a stop or a sweep has killed, and how long they ran, each once", () => {
    const events = [
      began(),
      // Killed at its limit, and looked at again afterwards.
      exec(1_000, 1),
      returns(21_000, 1, { startedAt: at(1_000), end: ended(21_000, "limit") }),
      calls(22_000, 2, "status", 1),
      returns(22_000, 2, {
        tool: "status",
        process: 1 as ProcessId,
        startedAt: at(1_000),
        end: ended(21_000, "limit"),
      }),
      // Stopped.
      exec(30_000, 3),
      returns(40_000, 3, { startedAt: at(30_000) }),
      calls(41_000, 4, "stop", 3),
      returns(43_000, 4, { tool: "stop", process: 3 as ProcessId, startedAt: at(30_000), end: ended(43_000, "stop") }),
      // Came to its own end.
      exec(50_000, 5),
      returns(55_000, 5, { startedAt: at(50_000), end: ended(55_000) }),
      // Swept; and a limit that struck while nobody looked.
      exec(60_000, 6, { background: true, held: "none" }),
      returns(60_000, 6, { startedAt: at(60_000) }),
      exec(61_000, 7, { background: true, held: "none" }),
      returns(61_000, 7, { startedAt: at(61_000) }),
      { event: "happened", at: at(70_000), what: "user_stop" } as const,
      { event: "swept", at: at(72_000), process: 6 as ProcessId, end: ended(72_000, "stop") } as const,
      submitted(80_000),
      left(80_000, 7, { end: ended(79_000, "limit") }),
    ];
    const rows = folded(events, 80_000);
    expect(rows.trial).toMatchObject({
      processes_stopped: 4,
      seconds_wasted: 20 + 13 + 12 + 18,
      processes_left_running: 0,
    });
    expect(rows.trial.other_tool_seconds).toBe(2 + 2);
  });

  test("counts as wasted until its end what not even KILL has ended, unless it ends after all", () => {
    const stop = (when: number, process: number, call: number) => [
      calls(when, call, "stop", process),
      returns(when + 5_000, call, { tool: "stop", process: process as ProcessId, status: "termination_failed" }),
    ];
    const events = [
      began(),
      exec(0, 1, { background: true, held: "none" }),
      returns(0, 1),
      exec(10_000, 2, { background: true, held: "none" }),
      returns(10_000, 2),
      ...stop(20_000, 1, 3),
      ...stop(30_000, 2, 4),
      submitted(60_000),
      left(60_000, 1),
      left(60_000, 2, { end: ended(50_000) }),
    ];
    expect(folded(events, 60_000).trial).toMatchObject({
      processes_stopped: 0,
      seconds_wasted: 60,
      processes_left_running: 1,
      orphaned_processes: 1,
    });
  });

  test("takes for an orphan whatever lives on, but for the service that is asked for and answers", () => {
    const server = { ...aCommand, kind: "server", port: 8_000 } as const;
    const events = (answers: boolean): readonly TrialEvent[] => [
      began(),
      exec(0, 1, { command: server, background: true, held: "none" }),
      returns(0, 1),
      exec(0, 2, { background: true, held: "none" }),
      returns(0, 2),
      submitted(60_000),
      left(60_000, 1, { answers }),
      left(60_000, 2),
    ];
    const orphans = (answers: boolean, service?: number | null) =>
      folded(events(answers), 60_000, service === undefined ? {} : { service }).trial.orphaned_processes;
    expect([
      orphans(true, 8_000),
      orphans(false, 8_000),
      orphans(true, 9_000),
      orphans(true, null),
      orphans(true),
    ]).toEqual([1, 2, 2, 2, 2]);
    expect(folded(events(true), 60_000, { service: 8_000 }).trial.processes_left_running).toBe(2);
  });

  test("adds up the output that nobody can read any more", () => {
    const events = [
      began(),
      exec(0, 1),
      returns(1_000, 1, { outputLost: 2 ** 31 }),
      exec(2_000, 2),
      returns(3_000, 2, { outputLost: 5 }),
      submitted(4_000),
    ];
    expect(folded(events, 4_000).trial.output_lost_bytes).toBe(2 ** 31 + 5);
  });

  test("says how long before the outer limit a result first spoke of the budget", () => {
    const events = [began(), exec(0, 1), returns(4_000_000, 1, { budgetSignal: true }), submitted(4_500_000)];
    expect(folded(events, 4_500_000).trial).toMatchObject({
      first_budget_signal_seconds: 4_000,
      budget_signal_lead_seconds: 1_400,
    });
    expect(folded([began(), submitted(1_000)], 1_000).trial.budget_signal_lead_seconds).toBeNull();
  });

  test("has what the oracle would have come to, where anybody can tell", () => {
    const events = [began(), submitted(1_000)];
    const oracle = { reward: 0.75, length: lasting(12_345) };
    expect(folded(events, 1_000, { oracle }).trial).toMatchObject({ oracle_reward: 0.75, oracle_seconds: 12.345 });
    expect(folded(events, 1_000, { oracle: null }).trial).toMatchObject({ oracle_reward: null, oracle_seconds: null });
    expect(folded(events, 1_000).trial).toMatchObject({ oracle_reward: null, oracle_seconds: null });
  });

  test.each([
    ["steps", "step_limit"],
    ["tokens", "token_limit"],
    ["cost", "cost_limit"],
  ] as const)("that reached its limit of %s is no outer timeout", (limit, outcome) => {
    const events = [began(), { event: "limit_reached", at: at(9_000), limit } as const];
    expect(folded(events, 9_000).trial).toMatchObject({ outcome, outer_timeout: false, finalized: false });
  });

  test("knows a server as a kind of command", () => {
    const command = { ...aCommand, kind: "server" } as const;
    const events = [began(), exec(0, 1, { command }), returns(10_000, 1), submitted(10_000)];
    expect(folded(events, 10_000).invocations[0]).toMatchObject({ kind: "server" });
  });
});

describe("the time ledger", () => {
  test("counts calls side by side once, each moment as that of the call that ends last", () => {
    const events = [
      began(),
      exec(0, 1),
      exec(0, 2, { held: "hard", timeout: lasting(60_000) }),
      autoAwait(10_000, 1),
      returns(30_000, 2, { end: ended(30_000) }),
      returns(40_000, 1),
      submitted(50_000),
    ];
    const rows = folded(events, 50_000);
    expect(ledgerOf(rows)).toEqual({ initial_hold_seconds: 10, auto_await_seconds: 30, model_seconds: 10 });
    expect(rows.trial.total_foreground_auto_await_seconds).toBe(30);
  });

  test("counts the provider's time once where a job asks while a sibling is held", () => {
    const events = [
      began(),
      asked(0, 1),
      answered(5_000, 1, served({ queued: lasting(1_000) })),
      jobBegan(5_000, "job"),
      exec(5_000, 1),
      asked(5_000, 2),
      answered(12_000, 2, served({ retrying: lasting(3_000), queued: lasting(2_000) })),
      autoAwait(15_000, 1),
      asked(20_000, 3),
      returns(45_000, 1),
      answered(50_000, 3, served({ queued: lasting(27_000) })),
      jobEnded(50_000, "job"),
      submitted(50_000),
    ];
    expect(ledgerOf(folded(events, 50_000))).toEqual({
      provider_queue_seconds: 1 + 27,
      model_seconds: 4 + 3,
      initial_hold_seconds: 10,
      auto_await_seconds: 5,
    });
  });

  test("ends with a job what the job was at, if nothing more is heard of it", () => {
    const events = [
      began(),
      asked(0, 1),
      answered(2_000, 1),
      jobBegan(2_000, "job"),
      asked(2_000, 2),
      exec(3_000, 1),
      jobEnded(10_000, "job", "salvaged"),
      returns(14_000, 1, { end: ended(14_000) }),
      asked(20_000, 3),
      answered(21_000, 3),
      submitted(21_000),
    ];
    const rows = folded(events, 21_000);
    expect(ledgerOf(rows)).toEqual({ model_seconds: 2 + 1 + 1, initial_hold_seconds: 11, idle_seconds: 6 });
    expect(rows.requests.map(({ answered_seconds }) => answered_seconds)).toEqual([2, null, 21]);
    expect(rows.trial.jobs_ended).toBe(1);

    const held = [
      began(),
      jobBegan(0, "job"),
      exec(0, 1),
      jobEnded(9_000, "job", "salvaged"),
      exec(12_000, 2),
      returns(13_000, 2, { end: ended(13_000) }),
      submitted(20_000),
    ];
    expect(folded(held, 20_000).invocations).toMatchObject([
      { call_index: 1, status: "cut_off", returned_seconds: null },
      { call_index: 2, status: "completed" },
    ]);
    expect(ledgerOf(folded(held, 20_000))).toEqual({ initial_hold_seconds: 9 + 1, model_seconds: 10 });
  });

  test("is idle where requests are counted and neither one nor a call is under way", () => {
    const events = [began(), asked(0, 1), answered(4_000, 1), asked(10_000, 2), answered(12_000, 2), submitted(12_000)];
    expect(ledgerOf(folded(events, 12_000))).toEqual({ model_seconds: 6, idle_seconds: 6 });
  });

  test("ends every call and every request with a trial that just stops", () => {
    const events = [began(), asked(0, 1), answered(1_000, 1), exec(1_000, 1), asked(2_000, 2), failed(2_500)];
    // In one moment; and then the hold counts as what ends last.
    expect(ledgerOf(folded(events, 5_000))).toEqual({ model_seconds: 1, initial_hold_seconds: 4 });
  });
});

describe("an event on paper", () => {
  test("has its lengths in seconds and its money in dollars", () => {
    expect(eventOnPaper(asked(1_500, 2, "poll", { cost: 79_650, pauseTax: 55_200, prompt: 21_000 }))).toMatchObject({
      event: "model_asked",
      at_seconds: 1.5,
      cost_usd: 0.07965,
      pause_tax_usd: 0.0552,
      prompt: 21_000,
    });
    const service = served({
      queued: lasting(2_000),
      retrying: lasting(4_000),
      firstToken: lasting(800),
      rateLimited: 1,
    });
    expect(eventOnPaper(answered(9_000, 1, service))).toEqual({
      event: "model_answered",
      at_seconds: 9,
      request: 1,
      service: {
        queued_seconds: 2,
        retrying_seconds: 4,
        retries: 0,
        rate_limited: 1,
        first_token_seconds: 0.8,
        failed: false,
      },
    });
  });
});
