/**
 * A file as a run leaves it, without a run: arms, tasks and waits by a few lines of arithmetic, so that a report can be tested
 * with the room below it alone. What it tells is plausible and nothing more.
 */
import { keyed, normalQuantile } from "../../src/random.ts";
import { addDigests, type Digest, digestOf, hex16, noRows } from "../../src/telemetry/digest.ts";
import { openStore } from "../../src/telemetry/store.ts";
import { type Batch, type Columns, type Dictionaries, openBatch, type Table } from "../../src/telemetry/table.ts";
import {
  arms,
  events,
  experiments,
  processWaits,
  providerRequests,
  published,
  SCHEMA_VERSION,
  shellInvocations,
  TABLES,
  trials,
  worlds,
} from "../../src/telemetry/tables.ts";

export interface SyntheticArm {
  readonly arm: string;
  readonly says?: string;
  /** Seconds of auto-await; 0: off. */
  readonly cap: number;
  readonly habit: "short" | "long";
  readonly slice: number | null;
  readonly told: boolean;
  readonly factors?: Readonly<Record<string, string>>;
  /** What its provider has of its own. */
  readonly provider?: object;
  /** Completion notices of each trial. */
  readonly notices?: number;
}

interface Figure {
  readonly arm: string;
  readonly against?: string;
  readonly measure: string;
  readonly low: number;
  readonly high: number;
}

export interface Synthetic {
  readonly panel?: string;
  readonly question?: string;
  readonly arms?: readonly SyntheticArm[];
  readonly tasks?: number;
  readonly replicates?: number;
  /** How many worlds were written; all of them, if nothing is said. */
  readonly written?: number;
  readonly finished?: boolean;
  readonly concurrencyGap?: number;
  readonly detail?: "trials" | "calls" | "events";
  /** Names of listed scenarios; null: a population. */
  readonly scenarios?: readonly string[] | null;
  readonly hangs?: number;
  /** The share of commands that start a server in the foreground. */
  readonly servers?: number;
  /** Trials that the infrastructure fails, by arm, task and replicate; none, if nothing is said. */
  readonly fails?: (arm: string, task: number, replicate: number) => boolean;
  /** Whether anybody counts tokens. */
  readonly provider?: boolean;
  /** Longest command but for those that hang, in seconds. */
  readonly longest?: number;
  readonly command?: string;
  readonly hypotheses?: readonly object[];
  readonly published?: readonly Figure[];
  readonly caveats?: readonly string[];
  readonly exhibits?: readonly string[];
  readonly crossed?: boolean;
  readonly declaredFactors?: readonly string[];
  readonly rewards?: "whole" | "shares" | "none";
  readonly schemaVersion?: number;
  /** As JSON; null: not frozen. */
  readonly lock?: string | null;
}

export const THREE_ARMS: readonly SyntheticArm[] = [
  { arm: "control", says: "auto-await off, no budget told", cap: 0, habit: "short", slice: null, told: false },
  {
    arm: "treatment",
    says: "240 s of auto-await, no budget told, no slice",
    cap: 240,
    habit: "long",
    slice: null,
    told: false,
  },
  {
    arm: "budgeted",
    says: "240 s of auto-await, waits in slices, both within the budget",
    cap: 240,
    habit: "long",
    slice: 240,
    told: true,
  },
];

const HYPOTHESES = [
  { measure: "outer_timeout", arm: "budgeted", against: "treatment", expect: "lower" },
  { measure: "outer_timeout", arm: "treatment", against: "control", expect: "higher" },
  { measure: "duration_seconds", arm: "budgeted", against: "treatment", expect: "lower" },
] as const;

const PUBLISHED: readonly Figure[] = [
  { arm: "control", measure: "calls_returned_running", low: 60, high: 60 },
  { arm: "treatment", measure: "time_at_return_seconds", low: 240, high: 240 },
  { arm: "treatment", measure: "outer_timeouts", low: 4.5, high: 4.5 },
  { arm: "treatment", against: "control", measure: "duration_seconds", low: 0.28, high: 0.31 },
];

const SEED = 11;
const LIMIT = 5_400;
const RESERVE = 600;
const STEP = 12;

/** All arms that a crossed panel of four factors has. */
export function crossedArms(): readonly SyntheticArm[] {
  return [10, 30, 60, 240].flatMap((cap) =>
    (["short", "long"] as const).flatMap((habit) =>
      [null, 240].flatMap((slice) =>
        [false, true].map((told) => ({
          arm: `cap-${cap}.habit-${habit}.slice-${slice ?? "none"}.budget-${told ? "told" : "untold"}`,
          cap,
          habit,
          slice,
          told,
          factors: { cap: String(cap), habit, slice: String(slice ?? "none"), budget: told ? "told" : "untold" },
        })),
      ),
    ),
  );
}

export async function writeSynthetic(path: string, options: Synthetic = {}): Promise<void> {
  const {
    panel = "synthetic",
    question = "What do auto-await and hour-long waits cost, and what do slices and a reserve repair?",
    arms: panelArms = THREE_ARMS,
    replicates = 10,
    written = replicates,
    finished = true,
    concurrencyGap = 0.01,
    detail = "calls",
    scenarios = null,
    command = "pytest -q",
    hypotheses = HYPOTHESES,
    published: figures = PUBLISHED,
    caveats = ["The figures come from a few lines of arithmetic."],
    exhibits = ["hung-test-run"],
    crossed = false,
    declaredFactors = ["cap", "habit", "slice", "budget"],
    rewards = "whole",
    provider = true,
    schemaVersion = SCHEMA_VERSION,
    lock = null,
  } = options;
  const tasks = scenarios?.length ?? options.tasks ?? 20;
  const names = scenarios ?? Array.from({ length: tasks }, (_, task) => `task/${String(task + 1).padStart(3, "0")}`);
  const dictionaries: Dictionaries = {
    experiment: ["synthetic"],
    arm: panelArms.map(({ arm }) => arm),
    scenario: [...new Set([...names, ...exhibits])],
    command: [command],
  };
  const store = await openStore(path, TABLES, dictionaries, { existing: "replace" });
  const open = <C extends Columns>(table: Table<C>) => openBatch(table, dictionaries);

  const experiment = open(experiments);
  push(experiment, {
    experiment_id: "synthetic",
    schema_version: schemaVersion,
    source: "simulated",
    panel,
    question,
    input_digest: "5d41402abc4b2a76b9719d911017c592aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    inputs: JSON.stringify([{ path: "panels/synthetic.yaml", sha256: "ab".repeat(32) }]),
    seed: SEED,
    replicates,
    concurrency_per_arm: 8,
    cut_grace_seconds: 10_000,
    detail,
    paired: true,
    population: scenarios === null,
    tasks,
    declared_factors: JSON.stringify(declaredFactors),
    crossed,
    hypotheses: JSON.stringify(hypotheses),
    caveats: JSON.stringify(caveats),
    inferred: null,
    overrides: "[]",
    lock,
    versions: JSON.stringify({ yieldpoint: "0.1.0", node: "20.20.2" }),
    git: "null",
    host: JSON.stringify({ platform: "linux", cores: 2 }),
    command: "yieldpoint run panels/synthetic.yaml",
    started_at: "2026-11-30T12:00:00.000Z",
    finished_at: finished ? "2026-11-30T12:00:05.000Z" : null,
  });
  const armRows = open(arms);
  for (const [index, panelArm] of panelArms.entries()) {
    const { arm, says = `the arm ${arm}`, cap, habit, slice, told, factors } = panelArm;
    push(armRows, {
      position: index + 1,
      arm,
      says,
      policy: cap === 0 ? "control" : "shipped",
      profile: habit,
      budget: told ? "told" : "untold",
      settings: JSON.stringify({
        foreground_idle_yield_seconds: 10,
        foreground_auto_await_max_seconds: cap,
        process_wait_slice_seconds: slice ?? "none",
        finalization_reserve_seconds: RESERVE,
      }),
      habits: JSON.stringify({ profile: habit, step: 12_000 }),
      provider: provider ? JSON.stringify({ ...PROVIDER, ...panelArm.provider }) : null,
      host: null,
      cut_reaches: "agent",
      factors: JSON.stringify(
        factors ?? { cap: String(cap), habit, slice: String(slice ?? "none"), budget: told ? "told" : "untold" },
      ),
      of_case: null,
      cell: null,
    });
  }
  const publishedRows = open(published);
  for (const { arm, against = null, measure, low, high } of figures) {
    push(publishedRows, { arm, against, measure, low, high, source: "a note" });
  }
  await store.appendWorlds([experiment, armRows, publishedRows, exhibitRows()] as readonly Batch[]);

  let trial = 0;
  for (let replicate = 1; replicate <= written; replicate += 1) {
    const [trialRows, calls, waits] = [open(trials), open(shellInvocations), open(processWaits)];
    const requests = open(providerRequests);
    for (const arm of panelArms) {
      for (const [task, scenario] of names.entries()) {
        trial += 1;
        const walked = walk(arm, task, replicate, options);
        const pair = (replicate - 1) * tasks + task + 1;
        push(trialRows, {
          ...trialRow(walked, arm),
          ...(provider ? paid(walked) : unpaid(walked)),
          trial_id: trial,
          experiment_id: "synthetic",
          arm: arm.arm,
          scenario,
          replicate,
          pair_key: pair,
          ...graded(walked, task),
          ...(options.fails?.(arm.arm, task, replicate) ? FAILED : {}),
        });
        if (detail === "trials") continue;
        for (const call of walked.calls) push(calls, { ...call, trial_id: trial, command });
        for (const wait of walked.waits) push(waits, { ...wait, trial_id: trial });
        if (provider) for (const request of walked.requests) push(requests, { ...request, trial_id: trial });
      }
    }
    const parts = [trialRows, calls, waits, requests] as readonly Batch[];
    const digest = parts.reduce<Digest>((sum, batch) => addDigests(sum, digestOf(batch)), noRows);
    const world = open(worlds);
    push(world, {
      replicate,
      digest: hex16(digest),
      rows: digest.rows,
      delivered_events: 10_000,
      ended_seconds: 6_000_000,
      first_queue_empty_seconds: 4_000_000,
      mean_concurrency: JSON.stringify(
        Object.fromEntries(panelArms.map(({ arm }, index) => [arm, 8 - (index === 0 ? 0 : 8 * concurrencyGap)])),
      ),
      concurrency_gap: concurrencyGap,
      occupancy: JSON.stringify(
        Object.fromEntries(
          panelArms.map(({ arm }, index) => [
            arm,
            [
              [0, 8],
              [4_000 + 90 * index, 5],
              [5_000 + 40 * index, 2],
              [6_000, 0],
            ],
          ]),
        ),
      ),
    });
    await store.appendWorlds([...parts, world as Batch]);
  }
  await store.close();

  function graded({ cut }: Walked, task: number): object {
    const reward = rewards === "none" ? null : cut ? 0 : rewards === "shares" ? [0.5, 0.75, 1][task % 3]! : 1;
    return { reward, tests_passed: cut ? 0 : 4, tests_total: 4 };
  }

  function exhibitRows() {
    const rows = open(events);
    for (const exhibit of exhibits) {
      for (const arm of panelArms) {
        const line = { trial_id: null, exhibit, arm: arm.arm, seed: SEED, replicate: 1 };
        for (const [index, event] of exhibitEvents(arm, command, provider).entries())
          push(rows, { ...line, event_index: index, request_index: null, ...event });
      }
    }
    return rows;
  }
}

/** One value for each column of a table, by name. */
function push<C extends Columns>(batch: Batch<C>, row: Readonly<Record<string, unknown>>): void {
  for (const [name, writer] of Object.entries(batch.columns)) {
    if (!(name in row)) throw new Error(`${batch.table.name}.${name} is not given`);
    (writer as { push(value: unknown): void }).push(row[name]);
  }
}

/** As `keep.ts` writes a provider down. */
export const PROVIDER = {
  provider: "synthetic",
  says: "three dollars a million",
  economy: {
    cache: { lifetime: 300_000, mode: "hard", gone: 300_000, write: 1.25, read: 0.1, least: 0 },
    price: { input: 3, output: 15 },
  },
  scope: "arm",
};

interface Request {
  readonly purpose: "work" | "poll";
  readonly prompt_tokens: number;
  readonly uncached_tokens: number;
  readonly cache_write_tokens: number;
  readonly cache_read_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
  readonly pause_tax_usd: number;
  readonly retries: number;
  readonly [other: string]: unknown;
}

interface Walked {
  readonly kind: "quick" | "long_finite" | "server" | "hanging";
  readonly requests: readonly Request[];
  readonly oracle: number;
  readonly duration: number;
  readonly cut: boolean;
  readonly calls: readonly object[];
  readonly waits: readonly { readonly low_information: boolean }[];
  readonly ledger: Readonly<Record<"model" | "initial" | "auto" | "wait", number>>;
  readonly returned: number;
  readonly longest: number;
  readonly unfinished: number;
  readonly inReserve: number;
  readonly stopped: number;
}

/** One trial, in whole milliseconds. */
function walk(
  arm: SyntheticArm,
  task: number,
  replicate: number,
  { hangs = 0.02, servers = 0, longest: atMost = 900 }: Synthetic,
): Walked {
  const luck = (...parts: readonly (string | number)[]) =>
    keyed.uniform(
      parts.reduce(
        (key, part) => keyed.within(key, part),
        keyed.within(keyed.within(keyed.seeded(SEED), replicate), task),
      ),
    );
  const commands = 4 + Math.floor(luck("commands") * 16);
  const think = Math.round((900_000 * Math.exp(0.5 * normalQuantile(luck("thinking")))) / (commands + 1));
  const limit = LIMIT * 1_000;
  const reserve = limit - RESERVE * 1_000;
  const ledger = { model: 0, initial: 0, auto: 0, wait: 0 };
  const calls: object[] = [];
  const waits: { low_information: boolean }[] = [];
  let [now, cut, call, returned, longest, unfinished, inReserve, stopped] = [0, false, 0, 0, 0, 0, 0, 0];
  let kind: Walked["kind"] = "quick";
  const requests: Request[] = [];
  let [cached, lastAsked] = [0, 0];

  /** One request: the prefix that was cached is read again, or written again if the cache has lapsed; half the first is never cached. */
  const ask = (purpose: Request["purpose"]): void => {
    const prompt = 12_000 + 900 * requests.length;
    const uncached = requests.length === 0 ? 6_000 : 0;
    const hit = cached === 0 ? null : now - lastAsked < 300_000;
    const read = hit === true ? cached : 0;
    const write = prompt - read - uncached;
    const output = purpose === "work" ? 400 : 60;
    requests.push({
      request_index: requests.length + 1,
      purpose,
      asked_seconds: now,
      answered_seconds: now + 1_000,
      queued_seconds: QUEUED,
      retrying_seconds: 0,
      first_token_seconds: 700,
      retries: requests.length % 10 === 9 ? 1 : 0,
      rate_limited: 0,
      failed: false,
      prompt_tokens: prompt,
      uncached_tokens: uncached,
      cache_write_tokens: write,
      cache_read_tokens: read,
      output_tokens: output,
      cost_usd: Math.round(3 * (uncached + 1.25 * write + 0.1 * read) + 15 * output),
      pause_tax_usd: hit === false ? Math.round(3 * 1.15 * cached) : 0,
      cache_hit: hit,
    });
    cached = prompt - uncached;
    lastAsked = now;
  };

  const spend = (part: keyof typeof ledger, length: number): number => {
    const spent = Math.min(length, limit - now);
    if ((part === "auto" || part === "wait") && now + spent > reserve)
      inReserve += now + spent - Math.max(now, reserve);
    ledger[part] += spent;
    now += spent;
    if (now >= limit) cut = true;
    return spent;
  };

  spend("model", think);
  for (let index = 0; index < commands && !cut; index += 1) {
    const serves = luck("serves", index) < servers;
    const hanging = serves || luck("hangs", index) < hangs;
    const length = hanging
      ? Number.POSITIVE_INFINITY
      : Math.round(Math.min(atMost, Math.exp(-0.1 + 2.2 * normalQuantile(luck("length", index)))) * 1_000);
    const sort = serves ? "server" : hanging ? "hanging" : length >= 10_000 ? "long_finite" : "quick";
    if (GRAVITY.indexOf(sort) > GRAVITY.indexOf(kind)) kind = sort;
    ask("work");

    const called = now;
    call += 1;
    spend("initial", Math.min(length, 10_000));
    const boundary = now;
    if (!cut && length > 10_000) {
      const cap = Math.max(arm.cap * 1_000 - 10_000, 0);
      spend("auto", Math.min(length - 10_000, cap, arm.told ? Math.max(reserve - now, 0) : cap));
    }
    const held = now - called;
    const running = !cut && length > held;
    longest = Math.max(longest, held);
    if (running) returned += 1;
    if (hanging) unfinished += held;
    calls.push({
      call_index: call,
      process_id: index + 1,
      kind: sort,
      background: false,
      called_seconds: called,
      returned_seconds: cut ? null : now,
      foreground_initial_yield_seconds: length > 10_000 ? 10_000 : null,
      initial_yield_reason: length > 10_000 ? "idle" : null,
      configured_auto_await_cap_seconds: arm.cap * 1_000,
      effective_auto_await_cap_seconds: arm.cap * 1_000,
      foreground_auto_await_elapsed_seconds: length > 10_000 ? now - boundary : null,
      auto_await_outcome: cut ? null : running ? (arm.cap === 0 ? "disabled" : "cap_reached") : "process_finished",
      auto_await_clamp_reasons: [],
      hard_timeout_seconds: null,
      hard_timeout_clamp_reasons: null,
      command_class: null,
      remaining_run_seconds_before: arm.told ? limit - called : null,
      remaining_run_seconds_after: arm.told && !cut ? limit - now : null,
      held_by_others_seconds: null,
      returned_running: running,
      time_to_first_control_seconds: cut ? null : held,
      exit_code: running || cut ? null : 0,
      signal: null,
      status: cut ? "cut_off" : running ? "running" : "completed",
    });
    if (running) spend("model", STEP * 1_000);
    for (let wait = 1; running && !cut && now - called < length; wait += 1) {
      const quiet = wait - 1;
      const tired = arm.habit === "short" ? quiet >= 2 : quiet >= 4 || (quiet >= 1 && now - called > 1_200_000);
      if (tired || (arm.told && now >= reserve)) {
        stopped += 1;
        break;
      }
      const asked = arm.habit === "short" ? 120 : luck("asks", index, wait) < (wait === 1 ? 0.6 : 0.9) ? 3_600 : 240;
      const granted = Math.min(
        asked * 1_000,
        (arm.slice ?? asked) * 1_000,
        arm.told ? Math.max(reserve - now, 0) : limit,
      );
      const begun = now;
      ask("poll");
      call += 1;
      const actual = spend("wait", Math.min(granted, length - (now - called)));
      longest = Math.max(longest, actual);
      if (hanging) unfinished += actual;
      const stillRuns = !cut && now - called < length;
      waits.push({
        call_index: call,
        process_id: index + 1,
        action: "wait",
        called_seconds: begun,
        returned_seconds: cut ? null : now,
        requested_wait_seconds: asked * 1_000,
        effective_wait_seconds: granted,
        actual_wait_seconds: actual,
        wait_clamped: granted < asked * 1_000,
        wait_clamp_reasons: granted < asked * 1_000 ? ["process_wait_slice"] : [],
        wait_raised: false,
        wait_defaulted: false,
        process_status_after_wait: cut ? "cut_off" : stillRuns ? "running" : "completed",
        remaining_run_seconds_before: arm.told ? limit - begun : null,
        remaining_run_seconds_after: arm.told && !cut ? limit - now : null,
        held_by_others_seconds: null,
        low_information: stillRuns,
        guided: false,
        ended_early: null,
        condition_outcome: null,
        condition_probes: null,
      } as { low_information: boolean });
      if (stillRuns) spend("model", STEP * 1_000);
    }
    if (!cut) spend("model", think);
  }
  const oracle = Math.min(think * (commands + 1), limit);
  return {
    kind,
    requests,
    oracle,
    duration: now,
    cut,
    calls,
    waits,
    ledger,
    returned,
    longest,
    unfinished,
    inReserve,
    stopped,
  };
}

/** A trial that the provider left without an answer. */
const FAILED = { outcome: "infrastructure", outer_timeout: false, finalized: false, committed: false, reward: null };

const GRAVITY = ["quick", "long_finite", "server", "hanging"];

/** Of each request, in milliseconds. */
const QUEUED = 50;

/** What is written down where tokens are counted. */
function paid({ requests, ledger }: Walked): object {
  const total = (of: (request: Request) => number) => requests.reduce((sum, request) => sum + of(request), 0);
  const queued = Math.min(QUEUED * requests.length, ledger.model);
  return {
    provider_calls: requests.length,
    uncached_tokens: total((request) => request.uncached_tokens),
    cache_write_tokens: total((request) => request.cache_write_tokens),
    cache_read_tokens: total((request) => request.cache_read_tokens),
    output_tokens: total((request) => request.output_tokens),
    poll_tokens: total(({ purpose, prompt_tokens, output_tokens }) =>
      purpose === "poll" ? prompt_tokens + output_tokens : 0,
    ),
    cost_usd: total((request) => request.cost_usd),
    pause_tax_usd: total((request) => request.pause_tax_usd),
    peak_context_tokens: Math.max(...requests.map((request) => request.prompt_tokens)),
    compactions: 0,
    provider_retries: total((request) => request.retries),
    model_seconds: ledger.model - queued,
    provider_queue_seconds: queued,
  };
}

function unpaid({ calls, waits, cut, ledger }: Walked): object {
  return {
    provider_calls: calls.length + waits.length + (cut ? 0 : 2),
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
    model_seconds: ledger.model,
    provider_queue_seconds: 0,
  };
}

function trialRow(walked: Walked, arm: SyntheticArm): object {
  const { ledger, duration, cut, waits, calls } = walked;
  const began = 0;
  return {
    kind: walked.kind,
    started_seconds: began,
    ended_seconds: began + duration,
    duration_seconds: duration,
    outcome: cut ? "outer_timeout" : "submitted",
    outer_timeout: cut,
    finalized: !cut,
    committed: !cut,
    tool_calls: calls.length + waits.length,
    total_foreground_auto_await_seconds: ledger.auto,
    auto_await_cap_crossings: 0,
    budget_clamped_auto_await_count: 0,
    risk_shortened: 0,
    total_process_wait_seconds: ledger.wait,
    budget_clamped_process_wait_count: 0,
    wait_slice_count: 0,
    time_entered_finalization_reserve: null,
    provider_retry_seconds: 0,
    initial_hold_seconds: ledger.initial,
    auto_await_seconds: ledger.auto,
    hard_hold_seconds: 0,
    process_wait_seconds: ledger.wait,
    other_tool_seconds: 0,
    idle_seconds: 0,
    calls_returned_running: walked.returned,
    wait_actions: waits.length,
    polls: waits.length,
    probes: 0,
    uses_process_tool: waits.length > 0,
    low_information_waits: waits.filter(({ low_information }) => low_information).length,
    longest_control_gap_seconds: walked.longest,
    held_on_unfinished_seconds: walked.unfinished,
    held_in_reserve_seconds: walked.inReserve,
    initial_held_in_reserve_seconds: 0,
    hard_held_in_reserve_seconds: 0,
    reserve_used_seconds: Math.max(duration - (LIMIT - RESERVE) * 1_000, 0),
    first_budget_signal_seconds: arm.told && waits.length > 0 ? 1_000 : null,
    budget_signal_lead_seconds: arm.told && waits.length > 0 ? LIMIT * 1_000 - 1_000 : null,
    commands_rerun: 0,
    processes_stopped: walked.stopped,
    finite_commands_killed: 0,
    seconds_wasted: walked.stopped * 60_000,
    processes_left_running: cut ? 1 : 0,
    orphaned_processes: cut ? 1 : 0,
    output_lost_bytes: 0,
    notices: arm.notices ?? 0,
    reminders: 0,
    hints: 0,
    heartbeats: 0,
    deadline_notices: 0,
    wrap_ups: 0,
    message_bytes: 0,
    wake_ups: 0,
    failed_deliveries: 0,
    jobs_ended: 0,
    tool_seconds_after_cut: 0,
    requests_after_cut: 0,
    cost_after_cut_usd: 0,
    oracle_reward: 1,
    oracle_seconds: walked.oracle,
    realised_concurrency: 7.5,
  };
}

interface ExhibitEvent {
  readonly at_seconds: number;
  readonly event: string;
  readonly call_index: number | null;
  readonly process_id: number | null;
  readonly until_seconds: number | null;
  readonly journal: string | null;
}

/** A test run that hangs after 300 s of work; what is left to do takes 1,500 s. */
function exhibitEvents(arm: SyntheticArm, command: string, provider: boolean): readonly ExhibitEvent[] {
  const list: ExhibitEvent[] = [];
  let now = 300;
  let call = 1;
  const add = (event: string, journal: string | null, until: number | null = null) =>
    list.push({
      at_seconds: now * 1_000,
      event,
      call_index: call,
      process_id: 1,
      until_seconds: until === null ? null : until * 1_000,
      journal,
    });
  list.push({
    at_seconds: 0,
    event: "trial_began",
    call_index: null,
    process_id: null,
    until_seconds: null,
    journal: null,
  });
  if (provider) {
    const request = { call_index: null, process_id: null, until_seconds: null, journal: null };
    for (const [second, event] of [
      [0, "model_asked"],
      [140, "model_answered"],
      [140, "model_asked"],
      [300, "model_answered"],
    ] as const)
      list.push({ at_seconds: second * 1_000, event, ...request });
  }
  add("exec_called", `exec     process-1  ${command}`);
  now += 10;
  if (arm.cap > 10) {
    add("auto_await_granted", `held     process-1  until ${300 + arm.cap}.000`, 300 + arm.cap);
    now = 300 + arm.cap;
  }
  add("control_returned", "control  process-1  running");
  for (let wait = 1; wait <= (arm.habit === "short" ? 2 : arm.slice === null ? 1 : 4); wait += 1) {
    now += STEP;
    call += 1;
    const asked = arm.habit === "short" ? 120 : 3_600;
    const until = now + Math.min(asked, arm.slice ?? asked);
    add("process_called", `wait     process-1  ${asked} s asked`);
    add("wait_granted", `held     process-1  until ${until}.000`, until);
    now = until;
    add("control_returned", "control  process-1  running");
  }
  now += STEP;
  call += 1;
  add("process_called", null);
  add("control_returned", "stopped  process-1");
  now += 1_500;
  if (now > LIMIT) {
    now = LIMIT;
    list.push({
      at_seconds: now * 1_000,
      event: "cut_off",
      call_index: null,
      process_id: null,
      until_seconds: null,
      journal: "cut off",
    });
  } else {
    list.push({
      at_seconds: now * 1_000,
      event: "submitted",
      call_index: null,
      process_id: null,
      until_seconds: null,
      journal: "finished",
    });
  }
  return list;
}
