/** What is written down of an experiment: one definition for each table, its columns with unit and meaning. */

import { CONDITION_OUTCOMES } from "../agent/condition.ts";
import { CUT_REACHES, KINDS, SIGNALS } from "../agent/effects.ts";
import { AUTO_AWAIT_OUTCOMES, EARLY_ENDS, EVENT_NAMES, PROCESS_CALLS, PURPOSES } from "../agent/events.ts";
import { PROCESS_STATUSES } from "../agent/processes.ts";
import { COMMAND_CLASSES } from "../policy/command.ts";
import { AUTO_AWAIT_REASONS, WAIT_REASONS } from "../policy/hold.ts";
import { HINTS, MESSAGE_KINDS } from "../policy/notice.ts";
import { HARD_TIMEOUT_REASONS } from "../policy/timeout.ts";
import { big, dollars, flag, listOf, oneOf, orNull, real, seconds, table, text, whole } from "./table.ts";

/** Grows when a column changes its meaning; a report refuses a file of another version. */
export const SCHEMA_VERSION = 5;

export const OUTCOMES = [
  "submitted",
  "partial",
  "outer_timeout",
  "step_limit",
  "token_limit",
  "cost_limit",
  "gave_up",
  "infrastructure",
  "ended",
  "timeout_strikes",
  "command_time_limit",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** How a call ended; two words more than a process has. */
const CALL_STATUSES = [...PROCESS_STATUSES, "cut_off", "refused"] as const;

/** Whether a stub model met scripted commands, or an agent met real ones. */
const SOURCES = ["simulated", "measured"] as const;

export const experiments = table(
  "experiments",
  "one row for each execution of a panel; the only table outside the digest",
  {
    experiment_id: text("derived from the digest of every input and the seed; of a served session, its name"),
    schema_version: whole("version of these tables"),
    source: oneOf(SOURCES, "a stub model on scripted commands, or an agent on real ones"),
    panel: text("name of the panel"),
    question: text("what the panel was written to answer"),
    input_digest: text("SHA-256 over every file the panel resolves to, and every override"),
    inputs: text("each input file with its own SHA-256, as JSON"),
    seed: big("of every draw"),
    replicates: whole("how many whole repetitions of the panel, each in a world of its own"),
    concurrency_per_arm: whole("slots of each arm in a world"),
    cut_grace_seconds: seconds("how long a slot stays taken after its trial was cut off"),
    detail: text("how fine the telemetry is: trials, calls or events"),
    paired: flag(
      "whether trials of one scenario and replicate are pairs across arms; otherwise arms are compared as groups",
    ),
    population: flag("whether the tasks are redrawn in each replicate; otherwise scenarios are listed"),
    tasks: whole("trials of one arm in one replicate"),
    declared_factors: text("what arms may differ in, as JSON"),
    crossed: flag("whether the factors are crossed; otherwise they vary together"),
    hypotheses: text("as declared in the panel, as JSON"),
    caveats: text("what the panel says of its own limits, as JSON"),
    inferred: orNull(
      text(
        "what nobody measured or published, as JSON: sentences, and how many trials a run may have had; null: nothing",
      ),
    ),
    overrides: text("settings changed on the command line, as JSON"),
    lock: orNull(text("the lock that the panel was checked against before it ran, as JSON; null: it was not frozen")),
    versions: text("of the engine, Node.js, DuckDB and the tables, as JSON"),
    git: text("commit and whether the checkout had changes, as JSON; null where there is no checkout"),
    host: text("kind of machine, as JSON"),
    command: text("the command line that made this"),
    started_at: text("wall clock, ISO 8601"),
    finished_at: orNull(text("wall clock, ISO 8601; null while it runs, or if it never finished")),
  },
);

export const arms = table("arms", "one row for each arm, in the panel's order", {
  position: whole("its place in the panel, from 1"),
  arm: oneOf("arm", "name of the arm"),
  says: text("what the arm is, in a sentence"),
  policy: text("name of its policy"),
  profile: text("name of its profile"),
  budget: text("what its policy is told: untold, told, or a length of its own"),
  settings: text("the resolved policy in full, as JSON, lengths in seconds"),
  habits: text("the resolved profile in full, as JSON, lengths in milliseconds"),
  provider: orNull(
    text(
      "its model provider in full, as JSON: terms, cache and price; lengths in milliseconds; null where nobody counts tokens",
    ),
  ),
  host: orNull(text("what its commands run on, as JSON; null: each runs as if alone")),
  cut_reaches: oneOf(CUT_REACHES, "what the harness reaches when it cuts a trial off: the agent, or only its client"),
  factors: text("its level of each declared factor, as JSON"),
  of_case: orNull(text("the case of a gallery that it belongs to, whose name its own begins with; null elsewhere")),
  cell: orNull(
    text(
      "where a panel varies what is around its arms, as JSON: arm, as the panel names it; levels, by what is varied; own, whether nothing is changed; null elsewhere",
    ),
  ),
});

export const cases = table("cases", "one row for each scenario of each case of a gallery, in the gallery's order", {
  position: whole("its place in the gallery, from 1"),
  of_case: text("name of the case: of the panel that it stands in"),
  file: text("the panel's file"),
  question: text("what the case asks"),
  source: orNull(text("where the case is from; null if it does not say")),
  scenario: oneOf("scenario", "the situation"),
  task: whole("its number in the case's panel, from 1"),
  says: orNull(text("what was reported or is feared; null if the scenario does not say")),
  scenario_question: text("what the scenario asks"),
  scenario_source: orNull(text("where the scenario is from; null if it does not say")),
  outer_limit_seconds: seconds("when the harness ends a trial of it"),
});

export const published = table("published", "one row for each published figure that the panel names", {
  arm: oneOf("arm", "the arm that stands for the published system"),
  against: orNull(oneOf("arm", "the value is the relative change against this arm; null: an absolute value")),
  measure: text("what was measured"),
  low: real("the published value, or the low end of the published range"),
  high: real("the published value, or the high end of the published range"),
  source: text("where it was published"),
});

export const worlds = table("worlds", "one row for each replicate: a world of its own, committed with all its rows", {
  replicate: whole("which repetition of the panel, from 1"),
  digest: text("of all rows of this world: count and sum modulo 2^64 of row hashes, table by table"),
  rows: big("rows of this world in all other tables, but for events that are there for the report alone"),
  delivered_events: big("entries popped from the queue and delivered"),
  ended_seconds: seconds("when the last slot was free again, in the world's time"),
  first_queue_empty_seconds: seconds("when the first arm had no more trials to start, in the world's time"),
  mean_concurrency: text("slots taken until then on average, by arm, as JSON"),
  concurrency_gap: real("largest relative difference of those averages between two arms"),
  occupancy: text("slots taken over the world's time, by arm, as JSON: [second, slots] at each change"),
});

export const trials = table("trials", "one row for each trial: one agent on one scenario under one arm with one seed", {
  trial_id: whole("unique in the experiment"),
  experiment_id: oneOf("experiment", "the experiment it belongs to"),
  arm: oneOf("arm", "the arm it ran under"),
  scenario: oneOf("scenario", "the situation it was put in"),
  kind: oneOf(KINDS, "the gravest kind of command drawn"),
  replicate: whole("the world it ran in"),
  pair_key: whole("the same for the trials of one scenario and replicate under every arm"),
  started_seconds: seconds("when it began, in the world's time"),
  ended_seconds: seconds("when it ended, in the world's time"),
  duration_seconds: seconds("from its beginning to its end"),
  outcome: oneOf(
    OUTCOMES,
    "how it ended, and a limit by the one that was reached; `infrastructure` where the provider gave no answer and nobody is to blame; `ended` where an agent has left a served session, and nobody tells what became of its work",
  ),
  outer_timeout: flag("whether the outer harness cut it off"),
  reward: orNull(real("0 to 1, as the scenario grades it; null if it was not graded")),
  tests_passed: whole("tests that pass in what is credited"),
  tests_total: whole("tests that the grader runs"),
  finalized: orNull(flag("whether it was submitted before the limit; null where nobody tells")),
  committed: orNull(flag("whether a commit was made before the limit; null where nobody tells")),
  tool_calls: whole("calls of any tool, probes included"),
  provider_calls: whole(
    "requests to the model, where they are counted; elsewhere one for each tool call, commit and submission",
  ),
  uncached_tokens: orNull(
    big("input that was neither read from the cache nor written to it; null where nobody counted tokens", "tokens"),
  ),
  cache_write_tokens: orNull(big("input that was written to the cache; null where nobody counted tokens", "tokens")),
  cache_read_tokens: orNull(big("input that was read from the cache; null where nobody counted tokens", "tokens")),
  output_tokens: orNull(big("what the model wrote; null where nobody counted tokens", "tokens")),
  poll_tokens: orNull(
    big(
      "of all these, in and out, those of requests that only looked after a live process; null where nobody counted tokens",
      "tokens",
    ),
  ),
  cost_usd: orNull(dollars("of all requests, those that were cut off included; null where nobody counted tokens")),
  pause_tax_usd: orNull(
    dollars(
      "what of the cost paid for prefixes that had been in the cache and were no longer; null where nobody counted tokens",
    ),
  ),
  peak_context_tokens: orNull(whole("the longest prompt; null where nobody counted tokens", "tokens")),
  compactions: orNull(whole("how often the conversation was compacted; null where nobody counted tokens")),
  provider_retries: orNull(
    whole("attempts at requests after the first, of those that were answered; null where nobody counted tokens"),
  ),
  total_foreground_auto_await_seconds: seconds("held by auto-await after the initial hold, over all calls"),
  auto_await_cap_crossings: whole("calls handed back at the configured cap"),
  budget_clamped_auto_await_count: whole("calls handed back earlier because of the budget"),
  risk_shortened: whole("finite commands handed back earlier because of a risk: those that were no risk after all"),
  total_process_wait_seconds: seconds("held by waits, over all calls"),
  budget_clamped_process_wait_count: whole("waits that the budget shortened"),
  wait_slice_count: whole("waits that the slice shortened"),
  time_entered_finalization_reserve: orNull(
    seconds("when the clock passed the start of the reserve; null if it never did, or no budget was told"),
  ),
  model_seconds: seconds("time ledger: the model at work; where requests are counted, being served"),
  provider_queue_seconds: seconds("time ledger: requests waiting for a free place at the provider"),
  provider_retry_seconds: seconds("time ledger: requests that were to be made again"),
  initial_hold_seconds: seconds("time ledger: held before the initial boundary"),
  auto_await_seconds: seconds("time ledger: held by auto-await"),
  hard_hold_seconds: seconds("time ledger: held under a hard timeout"),
  process_wait_seconds: seconds("time ledger: held by waits"),
  other_tool_seconds: seconds("time ledger: starting, stopping, looking and reading, sweeps of the runtime included"),
  idle_seconds: seconds(
    "time ledger: neither a call nor a request under way; where requests are not counted, only from the end of a turn to the next, and what the run was held open for at its end",
  ),
  calls_returned_running: whole("foreground calls that came back with a live process"),
  wait_actions: whole("wait and status calls, and waits for a condition"),
  polls: whole(
    "calls that only looked after something: waits for processes and conditions, status looks, reads of output",
  ),
  probes: whole("looks whether anything answers at a port"),
  uses_process_tool: flag("whether it made any process call"),
  low_information_waits: whole("waits that came back running with nothing new"),
  longest_control_gap_seconds: seconds("longest stretch of one call without control; 0 for a trial without calls"),
  held_on_unfinished_seconds: seconds("held on processes that never came to their own end"),
  held_in_reserve_seconds: seconds(
    "held by auto-await or waits inside the reserve (untold: inside the outer limit less the reserve setting)",
  ),
  initial_held_in_reserve_seconds: seconds("held before an initial boundary inside the reserve"),
  hard_held_in_reserve_seconds: seconds("held under a hard timeout inside the reserve"),
  reserve_used_seconds: seconds("of the trial, how much lay inside the reserve"),
  first_budget_signal_seconds: orNull(
    seconds("when a result first spoke of the run's budget, since the trial's start; null if none did"),
  ),
  budget_signal_lead_seconds: orNull(seconds("from then to the outer limit; null if no result spoke of the budget")),
  commands_rerun: whole("commands that were run again by a model that took them not to have run"),
  processes_stopped: whole("processes ended by a stop, a limit or a sweep of the runtime"),
  finite_commands_killed: whole("of those, commands that would have ended by themselves"),
  seconds_wasted: seconds(
    "how long those ran, each from its start to its end, or to the trial's where even KILL did not end it",
  ),
  processes_left_running: whole("processes still alive when the trial ended"),
  orphaned_processes: whole(
    "of those, all but the service that the grading asks for, if it answers; and what has outlived the command that started it, as that command's end told",
  ),
  output_lost_bytes: big("output that results should have shown and that nobody can read any more", "bytes"),
  notices: whole("messages that told the model of background commands that were over"),
  reminders: whole("messages that recalled results nobody had read"),
  hints: whole("results that pointed out something beside what was asked"),
  heartbeats: whole("messages that told of a background command past its usual length"),
  deadline_notices: whole("messages that told how much of the run was left"),
  wrap_ups: whole("messages that asked to come to an end"),
  message_bytes: big("of all these, as UTF-8", "bytes"),
  wake_ups: whole("of these, those that began another turn of a model that had ended its own"),
  failed_deliveries: whole("times that a message failed to do so"),
  jobs_ended: whole("child jobs that came to an end, or were cut off"),
  tool_seconds_after_cut: seconds(
    "how long calls were under way after the outer limit, in a trial whose agent the cut had not reached; 0 elsewhere",
  ),
  requests_after_cut: whole("requests to the model that were made then, where they are counted; not in provider_calls"),
  cost_after_cut_usd: dollars("of those; not in cost_usd"),
  oracle_reward: orNull(real("what somebody who knows every script would have earned; null where nobody can tell")),
  oracle_seconds: orNull(seconds("how long that would have taken; null where nobody can tell")),
  realised_concurrency: real("slots of its arm taken while it ran, on average"),
});

/** What is known of every trial, whoever measured it. */
const KNOWN: readonly string[] = [
  "trial_id",
  "experiment_id",
  "arm",
  "scenario",
  "replicate",
  "pair_key",
  "outcome",
  "outer_timeout",
];

/** The same table where trials were measured by somebody else: what they did not measure is null, and never 0. */
export const measuredTrials = table(
  trials.name,
  trials.says,
  Object.fromEntries(
    Object.entries(trials.columns).map(([name, column]) => [name, KNOWN.includes(name) ? column : orNull(column)]),
  ) as { readonly [Name in keyof typeof trials.columns]: (typeof trials.columns)[Name] },
);

export const shellInvocations = table(
  "shell_invocations",
  "one row for each command that the model ran, foreground or background",
  {
    trial_id: whole("the trial it belongs to"),
    call_index: whole("which tool call of the trial, from 1"),
    process_id: orNull(whole("the process it started; null if it was refused")),
    command: oneOf("command", "the command line"),
    kind: orNull(
      oneOf(
        KINDS,
        "what kind of command it turned out to be; measured: hanging if it never came to its own end in the session; null where nobody knows",
      ),
    ),
    background: flag("whether it was started in the background"),
    called_seconds: seconds("when the call was made"),
    returned_seconds: orNull(seconds("when control returned; null if the harness cut it off")),
    foreground_initial_yield_seconds: orNull(
      seconds("from the start to the end of the initial hold; null if the command did not outlive it"),
    ),
    initial_yield_reason: orNull(oneOf(["idle", "total"], "which boundary ended the initial hold; null if none did")),
    configured_auto_await_cap_seconds: orNull(seconds("as configured, from the command's start; null: no cap")),
    effective_auto_await_cap_seconds: orNull(
      seconds("what the budget left of the cap; null if auto-await was not asked for, or nothing bounds it"),
    ),
    foreground_auto_await_elapsed_seconds: orNull(
      seconds("held after the initial boundary; null if it was not reached"),
    ),
    held_by_others_seconds: orNull(
      seconds("as it was granted, what calls beside it might still hold; null where they draw on no joint budget"),
    ),
    auto_await_outcome: orNull(oneOf(AUTO_AWAIT_OUTCOMES, "how auto-await ended; null for calls it has no part in")),
    auto_await_clamp_reasons: orNull(
      listOf(AUTO_AWAIT_REASONS, "every bound that shortened it; null if it was not asked for"),
    ),
    hard_timeout_seconds: orNull(seconds("hard timeout in force; null: none")),
    hard_timeout_clamp_reasons: orNull(
      listOf(HARD_TIMEOUT_REASONS, "every bound that shortened the hard timeout; null: none"),
    ),
    command_class: orNull(
      oneOf(COMMAND_CLASSES, "class of the command, where that has set its hard timeout; null where it has not"),
    ),
    remaining_run_seconds_before: orNull(seconds("left of the run as the call was made; null when no budget was told")),
    remaining_run_seconds_after: orNull(
      seconds("left of the run as it returned; null when no budget was told or the call was cut off"),
    ),
    returned_running: flag("whether a foreground call handed back a live process"),
    time_to_first_control_seconds: orNull(
      seconds(
        "from the call until the model had control again; null (censored) if the harness cut it off, and if it was refused",
      ),
    ),
    exit_code: orNull(whole("of the command, as the call returned; null while it ran or if a signal ended it")),
    signal: orNull(oneOf(SIGNALS, "the signal that ended the command, as the call returned; null if none did")),
    status: oneOf(CALL_STATUSES, "of the process as the call returned, or how the call itself failed"),
  },
);

export const processWaits = table(
  "process_waits",
  "one row for each process call: wait, status, stop, list, read_output, wait_for_condition",
  {
    trial_id: whole("the trial it belongs to"),
    call_index: whole("which tool call of the trial, from 1"),
    process_id: orNull(whole("the process it is about; null if it is about none")),
    action: oneOf(PROCESS_CALLS, "what was asked"),
    called_seconds: seconds("when the call was made"),
    returned_seconds: orNull(seconds("when control returned; null if the harness cut it off")),
    requested_wait_seconds: orNull(
      seconds("as the model named it, else the default; null unless it is a wait, for a process or for a condition"),
    ),
    effective_wait_seconds: orNull(
      seconds("as the policy granted; 0 inside the finalization reserve; null unless it is a wait that was granted"),
    ),
    actual_wait_seconds: orNull(
      seconds(
        "as it came out: shorter than granted when the process ended first or the harness cut it; null unless it is a wait",
      ),
    ),
    wait_clamped: orNull(flag("whether less was granted than asked; null unless it is a wait that was granted")),
    wait_clamp_reasons: orNull(
      listOf(WAIT_REASONS, "every bound that shortened it; null unless it is a wait that was granted"),
    ),
    wait_raised: orNull(flag("whether the request was raised to the floor; null unless it is a wait")),
    wait_defaulted: orNull(flag("whether the model named no length; null unless it is a wait")),
    process_status_after_wait: orNull(
      oneOf(CALL_STATUSES, "of the process as the call returned, or how the call itself failed; null for a list"),
    ),
    remaining_run_seconds_before: orNull(seconds("left of the run as the call was made; null when no budget was told")),
    remaining_run_seconds_after: orNull(
      seconds("left of the run as it returned; null when no budget was told or the call was cut off"),
    ),
    held_by_others_seconds: orNull(
      seconds("as it was granted, what calls beside it might still hold; null where they draw on no joint budget"),
    ),
    ended_early: orNull(
      oneOf(
        EARLY_ENDS,
        "what ended it before all that was granted, besides the end of its process; null if nothing did",
      ),
    ),
    condition_outcome: orNull(
      oneOf(CONDITION_OUTCOMES, "what a wait for a condition came to; null unless it is one that came to its end"),
    ),
    condition_probes: orNull(whole("how often the condition was looked at within this call; null as for its outcome")),
    low_information: flag("whether it is a wait that came back running with nothing new"),
    guided: flag("whether the result carried guidance to finish"),
  },
);

export const providerRequests = table(
  "provider_requests",
  "one row for each request to the model, where tokens are counted",
  {
    trial_id: whole("the trial it belongs to"),
    request_index: whole("which request of the trial, from 1"),
    purpose: oneOf(PURPOSES, "to get on with the work, to look after a live process, or to make room in the context"),
    asked_seconds: seconds("when it was sent"),
    answered_seconds: orNull(seconds("when the answer was there, or the client gave up; null if it was cut off")),
    queued_seconds: orNull(
      seconds("waited for a free place, all attempts together; null if it was cut off, or no provider was asked"),
    ),
    retrying_seconds: orNull(
      seconds("lost on attempts that failed, and on waiting between them; null as for queued_seconds"),
    ),
    first_token_seconds: orNull(
      seconds("from the start of the service to the first token; null as for queued_seconds, and if it failed"),
    ),
    retries: orNull(whole("attempts after the first; null as for queued_seconds")),
    rate_limited: orNull(whole("of these, how many the rate limits asked for; null as for queued_seconds")),
    failed: orNull(flag("whether no attempt succeeded; null as for queued_seconds")),
    prompt_tokens: whole("of the whole prompt", "tokens"),
    uncached_tokens: whole("of these, neither read from the cache nor written to it", "tokens"),
    cache_write_tokens: whole("of these, written to the cache", "tokens"),
    cache_read_tokens: whole("of these, read from the cache", "tokens"),
    output_tokens: whole("what the model wrote", "tokens"),
    cost_usd: dollars("of the request, whether or not its answer came"),
    pause_tax_usd: dollars("what of it paid for a prefix that had been in the cache and was no longer"),
    cache_hit: orNull(flag("whether the prefix was still in the cache; null where there was none to be there")),
  },
);

export const notices = table(
  "notices",
  "one row for each message that the model was sent without having asked, and each that never reached it",
  {
    trial_id: whole("the trial it belongs to"),
    kind: oneOf(MESSAGE_KINDS, "what kind of message"),
    hint: orNull(oneOf(HINTS, "what a hint points out; null for any other kind")),
    due_seconds: seconds("since when there was something to tell"),
    delivered_seconds: orNull(
      seconds(
        "when it reached the model; if it began a turn, when the first request of that was answered; null if it was given up",
      ),
    ),
    processes: whole("how many processes it names"),
    bytes: whole("how long it is, as UTF-8", "bytes"),
    woke: flag("whether it began another turn of a model that had ended its own"),
    attempts: whole("how often it was tried, the last time included"),
    deferred: flag("whether the window of wake-ups has put it off"),
  },
);

export const events = table(
  "events",
  "one row for each event of a trial, with its journal line: of every trial at --detail events, else of those that the report goes into; exhibits stand here only",
  {
    trial_id: orNull(whole("the trial it belongs to; null for an exhibit")),
    exhibit: orNull(
      oneOf("scenario", "the scenario that the report shows as an exhibit; null for a trial of the panel"),
    ),
    arm: oneOf("arm", "the arm it ran under"),
    seed: big("of its draws"),
    replicate: whole("the world it ran in"),
    event_index: whole("its place in the trial, from 0"),
    at_seconds: seconds("when it happened"),
    event: oneOf(EVENT_NAMES, "what happened"),
    call_index: orNull(whole("the tool call it belongs to; null if to none")),
    request_index: orNull(whole("the request to the model that it belongs to; null if to none")),
    process_id: orNull(whole("the process it is about; null if about none")),
    until_seconds: orNull(seconds("until when a hold was granted; null if none was, or without end")),
    journal: orNull(text("the line a person reads; null where a journal has none")),
  },
);

/** In the order they are made and read. */
export const TABLES = [
  experiments,
  arms,
  cases,
  published,
  worlds,
  trials,
  shellInvocations,
  processWaits,
  providerRequests,
  notices,
  events,
] as const;
