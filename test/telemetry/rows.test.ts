import { describe, expect, test } from "vitest";
import type { TrialEvent } from "../../src/agent/events.ts";
import { never, seconds } from "../../src/policy/time.ts";
import { openEvents, pushEvents } from "../../src/telemetry/rows.ts";
import {
  alone,
  aRun,
  candidate,
  command,
  commandOf,
  commits,
  hangs,
  lasts,
  lines,
  type RunSpec,
  runs,
  session,
  submits,
  thinks,
} from "../aRun.ts";
import { rows, rowsOf } from "../rowsOf.ts";

const of = (spec: RunSpec) => rowsOf(alone(candidate(spec)));
const budgeted: Partial<RunSpec> = { told: 5_400, reserve: 600, outerLimit: 5_400 };

/** The shape of the design note's trace: a test run that hangs, and a model that asks for hours. */
const hungTestRun = (more: Partial<RunSpec> = {}): RunSpec => ({
  settings: { foreground_auto_await_max_seconds: 240, process_wait_slice_seconds: 240 },
  plan: [thinks(300), runs(command(hangs())), thinks(1_500), commits, submits],
  ...more,
});

describe("a row of shell_invocations", () => {
  test("names the class of a command exactly where that has set its hard timeout", () => {
    const classOf = (settings: RunSpec["settings"], options: Parameters<typeof runs>[1] = {}) => {
      const [row] = of({ settings: settings!, plan: [runs(command(hangs()), options), submits] }).invocations;
      return [row!.command_class, row!.hard_timeout_seconds, row!.status];
    };
    const byClass = { hard_timeout_by_class: true };
    expect(classOf(byClass)).toEqual(["test", 900, "timed_out"]);
    expect(classOf(byClass, { timeout: 60 })).toEqual([null, 60, "timed_out"]);
    expect(classOf(byClass, { background: true })).toEqual([null, null, "running"]);
    expect(classOf({ hard_timeout_default_seconds: 50 })).toEqual([null, 50, "timed_out"]);
  });

  test("says all there is to say of a command that was handed back", () => {
    expect(of(hungTestRun(budgeted)).invocations).toEqual([
      {
        trial_id: 1,
        call_index: 1,
        process_id: 1,
        command: "pytest -q",
        kind: "hanging",
        background: false,
        called_seconds: 300,
        returned_seconds: 540,
        foreground_initial_yield_seconds: 10,
        initial_yield_reason: "idle",
        configured_auto_await_cap_seconds: 240,
        effective_auto_await_cap_seconds: 240,
        foreground_auto_await_elapsed_seconds: 230,
        held_by_others_seconds: null,
        auto_await_outcome: "cap_reached",
        auto_await_clamp_reasons: [],
        hard_timeout_seconds: null,
        hard_timeout_clamp_reasons: null,
        command_class: null,
        remaining_run_seconds_before: 5_100,
        remaining_run_seconds_after: 4_860,
        returned_running: true,
        time_to_first_control_seconds: 240,
        exit_code: null,
        signal: null,
        status: "running",
      },
    ]);
  });

  test("of a hard timeout has nothing to do with auto-await", () => {
    const [row] = of({ plan: [runs(command(hangs()), { timeout: 60 }), submits] }).invocations;
    expect(row).toMatchObject({
      foreground_initial_yield_seconds: null,
      initial_yield_reason: null,
      configured_auto_await_cap_seconds: 30,
      effective_auto_await_cap_seconds: null,
      foreground_auto_await_elapsed_seconds: null,
      auto_await_outcome: null,
      auto_await_clamp_reasons: null,
      hard_timeout_seconds: 60,
      hard_timeout_clamp_reasons: [],
      returned_running: false,
      signal: "SIGTERM",
      exit_code: null,
      status: "timed_out",
    });
  });

  test("of a call that was cut off is there all the same, with what was known by then", () => {
    const cut = (outerLimit: number) =>
      of({ settings: { foreground_auto_await_max_seconds: 240 }, plan: [runs(command(hangs())), submits], outerLimit });
    expect(cut(100).invocations[0]).toMatchObject({
      returned_seconds: null,
      foreground_initial_yield_seconds: 10,
      foreground_auto_await_elapsed_seconds: 90,
      auto_await_outcome: null,
      auto_await_clamp_reasons: [],
      remaining_run_seconds_after: null,
      returned_running: false,
      time_to_first_control_seconds: null,
      status: "cut_off",
    });
    expect(cut(5).invocations[0]).toMatchObject({
      foreground_initial_yield_seconds: null,
      foreground_auto_await_elapsed_seconds: null,
      status: "cut_off",
    });
    expect(cut(100).trial).toMatchObject({
      initial_hold_seconds: 10,
      auto_await_seconds: 90,
      total_foreground_auto_await_seconds: 90,
      auto_await_cap_crossings: 0,
      calls_returned_running: 0,
      longest_control_gap_seconds: 100,
      outcome: "outer_timeout",
    });
  });

  test("of a refused call returned when it was made, and gave nobody control of anything", () => {
    const [row, again] = of({
      ...budgeted,
      plan: [thinks(10), runs(command(lasts(1)), { timeout: -1 }), submits],
    }).invocations;
    expect(row).toMatchObject({
      process_id: null,
      called_seconds: 10,
      returned_seconds: 10,
      auto_await_outcome: null,
      auto_await_clamp_reasons: null,
      hard_timeout_seconds: null,
      remaining_run_seconds_before: 5_390,
      remaining_run_seconds_after: 5_390,
      time_to_first_control_seconds: null,
      status: "refused",
    });
    expect(again).toMatchObject({ call_index: 2, process_id: 1, status: "completed" });
  });

  test("of a crash has its signal, of a failure its code", () => {
    const crash = commandOf({ phases: [lasts(1)], exit: { code: null, signal: "SIGSEGV" } });
    const failure = commandOf({ phases: [lasts(1)], exit: { code: 2, signal: null } });
    expect(of({ plan: [runs(crash), runs(failure), submits] }).invocations).toMatchObject([
      { exit_code: null, signal: "SIGSEGV", status: "failed" },
      { exit_code: 2, signal: null, status: "failed" },
    ]);
  });
});

describe("a row of process_waits", () => {
  test("says all there is to say of a wait", () => {
    expect(of(hungTestRun(budgeted)).waits[0]).toEqual({
      trial_id: 1,
      call_index: 2,
      process_id: 1,
      action: "wait",
      called_seconds: 545,
      returned_seconds: 785,
      requested_wait_seconds: 3_600,
      effective_wait_seconds: 240,
      actual_wait_seconds: 240,
      wait_clamped: true,
      wait_clamp_reasons: ["process_wait_slice"],
      wait_raised: false,
      wait_defaulted: false,
      process_status_after_wait: "running",
      remaining_run_seconds_before: 4_855,
      remaining_run_seconds_after: 4_615,
      held_by_others_seconds: null,
      ended_early: null,
      condition_outcome: null,
      condition_probes: null,
      low_information: true,
      guided: false,
    });
  });

  test("that the harness cut off matters most: its actual time is the time until the cut", () => {
    const { waits, trial } = of(
      hungTestRun({ settings: { foreground_auto_await_max_seconds: 240 }, outerLimit: 1_000 }),
    );
    expect(waits).toMatchObject([
      {
        called_seconds: 545,
        returned_seconds: null,
        requested_wait_seconds: 3_600,
        effective_wait_seconds: 3_600,
        actual_wait_seconds: 455,
        wait_clamped: false,
        process_status_after_wait: "cut_off",
        remaining_run_seconds_after: null,
        low_information: false,
      },
    ]);
    expect(trial).toMatchObject({ total_process_wait_seconds: 455, low_information_waits: 0, wait_actions: 1 });
  });

  test("of any other action has no columns of a wait", () => {
    const whole = session({}, function* (hands) {
      yield* hands.exec(command(hangs()), { background: true });
      yield* hands.status(1);
      yield* hands.read(1, 0);
      yield* hands.list();
      yield* hands.stop(1);
      yield* hands.stop(1);
    });
    const { waits, trial } = rowsOf(alone(whole));
    expect(
      waits.map(({ action, process_id, process_status_after_wait }) => [action, process_id, process_status_after_wait]),
    ).toEqual([
      ["status", 1, "running"],
      ["read_output", 1, "running"],
      ["list", null, null],
      ["stop", 1, "terminated"],
      ["stop", 1, "already_exited"],
    ]);
    for (const row of waits) {
      expect(row).toMatchObject({
        requested_wait_seconds: null,
        effective_wait_seconds: null,
        actual_wait_seconds: null,
        wait_clamped: null,
        wait_clamp_reasons: null,
        wait_raised: null,
        wait_defaulted: null,
        low_information: false,
      });
    }
    expect(trial).toMatchObject({ tool_calls: 6, wait_actions: 1, uses_process_tool: true, processes_stopped: 1 });
  });

  test("has little to say where the wait brought nothing new, and only there", () => {
    const spec: RunSpec = {
      settings: { foreground_auto_await_max_seconds: 0 },
      profile: { waits: [{ from: 1, length: seconds(30) }] },
      plan: [runs(command(lasts(110, lines([60, "news\n"])))), submits],
    };
    expect(of(spec).waits.map(({ low_information }) => low_information)).toEqual([true, false, false]);
    expect(of(spec).trial).toMatchObject({ low_information_waits: 1 });
  });
});

describe("the row of a trial", () => {
  test("sums up the calls, the time, and what became of it", () => {
    expect(
      of(
        hungTestRun({ ...budgeted, profile: { stopsAProcess: [{ quietWaits: 2, running: null, failureSeen: null }] } }),
      ).trial,
    ).toEqual({
      trial_id: 1,
      experiment_id: "it",
      arm: "arm",
      scenario: "scenario",
      kind: "quick",
      replicate: 1,
      pair_key: 1,
      started_seconds: 0,
      ended_seconds: 2_535,
      duration_seconds: 2_535,
      outcome: "submitted",
      outer_timeout: false,
      reward: null,
      tests_passed: 0,
      tests_total: 0,
      finalized: true,
      committed: true,
      tool_calls: 4,
      provider_calls: 6,
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
      total_foreground_auto_await_seconds: 230,
      auto_await_cap_crossings: 1,
      budget_clamped_auto_await_count: 0,
      risk_shortened: 0,
      total_process_wait_seconds: 480,
      budget_clamped_process_wait_count: 0,
      wait_slice_count: 2,
      time_entered_finalization_reserve: null,
      model_seconds: 300 + 3 * 5 + 1_500,
      provider_queue_seconds: 0,
      provider_retry_seconds: 0,
      initial_hold_seconds: 10,
      auto_await_seconds: 230,
      hard_hold_seconds: 0,
      process_wait_seconds: 480,
      other_tool_seconds: 0,
      idle_seconds: 0,
      calls_returned_running: 1,
      wait_actions: 2,
      polls: 2,
      probes: 0,
      uses_process_tool: true,
      low_information_waits: 2,
      longest_control_gap_seconds: 240,
      held_on_unfinished_seconds: 720,
      held_in_reserve_seconds: 0,
      initial_held_in_reserve_seconds: 0,
      hard_held_in_reserve_seconds: 0,
      reserve_used_seconds: 0,
      first_budget_signal_seconds: 785,
      budget_signal_lead_seconds: 4_615,
      commands_rerun: 0,
      processes_stopped: 1,
      finite_commands_killed: 0,
      seconds_wasted: 735,
      processes_left_running: 0,
      orphaned_processes: 0,
      output_lost_bytes: 0,
      notices: 0,
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
      oracle_reward: null,
      oracle_seconds: null,
      realised_concurrency: 1,
    });
  });

  test("has its grade, or no reward at all", () => {
    const ended = alone(candidate({ plan: [submits] }));
    expect(rowsOf(ended, { reward: 0.5, testsPassed: 1, testsTotal: 2 }).trial).toMatchObject({
      reward: 0.5,
      tests_passed: 1,
      tests_total: 2,
    });
  });

  test.each<[string, RunSpec, object]>([
    [
      "submitted",
      { plan: [submits] },
      { outcome: "submitted", finalized: true, outer_timeout: false, committed: false },
    ],
    ["gave up", { plan: [commits] }, { outcome: "gave_up", finalized: false, outer_timeout: false, committed: true }],
    [
      "was cut off",
      { plan: [commits, thinks(9_000), submits] },
      { outcome: "outer_timeout", finalized: false, outer_timeout: true, committed: true },
    ],
    [
      "submitted in part",
      hungTestRun({ ...budgeted, profile: { inTheReserve: "finish" } }),
      { outcome: "partial", finalized: true, outer_timeout: false },
    ],
  ])("that %s says so", (_, spec, expected) => {
    expect(of(spec).trial).toMatchObject(expected);
  });

  test("counts a return at the cap apart from one that the budget shortened", () => {
    const counted = (start: number, settings: RunSpec["settings"] = { foreground_auto_await_max_seconds: 240 }) => {
      const plan = [thinks(start), runs(command(hangs())), submits];
      const stopping = { stopsAProcess: [{ quietWaits: null, running: null, failureSeen: null }] };
      const { trial } = of({ ...budgeted, settings: settings!, plan, profile: stopping });
      return [trial.auto_await_cap_crossings, trial.budget_clamped_auto_await_count];
    };
    expect(counted(0)).toEqual([1, 0]);
    expect(counted(4_560)).toEqual([1, 0]);
    expect(counted(4_561)).toEqual([0, 1]);
    expect(counted(4_900)).toEqual([0, 1]);
    expect(counted(0, { foreground_auto_await_max_seconds: 0 })).toEqual([0, 0]);
    expect(counted(0, { foreground_auto_await_max_seconds: 240, max_hold_seconds: 60 })).toEqual([0, 0]);
    expect(counted(0, { foreground_auto_await_max_seconds: 240, foreground_at_cap: "kill" })).toEqual([1, 0]);
  });

  describe("counts a finite command whose auto-await a risk shortened", () => {
    const advisory = {
      foreground_auto_await_max_seconds: 240,
      auto_await_risk: "advisory",
      risk_cap_full_test_suite_seconds: 60,
    } as const;
    const counted = (what: ReturnType<typeof command>, more: Partial<RunSpec> = {}) =>
      of({ settings: advisory, plan: [runs(what), submits], ...more }).trial;

    test("once, and neither as a crossing of the cap nor as the budget's doing", () => {
      expect(counted(command(lasts(100)))).toMatchObject({
        risk_shortened: 1,
        auto_await_cap_crossings: 0,
        budget_clamped_auto_await_count: 0,
        calls_returned_running: 1,
        processes_stopped: 0,
      });
    });

    test("but not one that was over before, or never ends, or that no risk shortened", () => {
      expect(counted(command(lasts(59))).risk_shortened).toBe(0);
      expect(counted(command(hangs())).risk_shortened).toBe(0);
      expect(counted(commandOf({ phases: [lasts(100)], line: "cargo build" })).risk_shortened).toBe(0);
      expect(counted(command(lasts(100)), { settings: { ...advisory, auto_await_risk: "off" } }).risk_shortened).toBe(
        0,
      );
    });

    test("and where nobody knows the kind, one that came to its own end after all", () => {
      const unknown = (what: ReturnType<typeof command>) => ({ ...what, kind: null });
      expect(counted(unknown(command(lasts(100)))).risk_shortened).toBe(1);
      expect(counted(unknown(command(hangs()))).risk_shortened).toBe(0);
    });

    test("but no return that was the client's own doing", () => {
      expect(counted(command(lasts(100)), { cancels: [40] }).risk_shortened).toBe(0);
    });
  });

  test("counts no return that was the client's own doing", () => {
    const plan = [thinks(4_700), runs(command(hangs())), submits];
    const cancelled = { ...budgeted, settings: { foreground_auto_await_max_seconds: 240 }, plan, cancels: [4_720] };
    const { trial, invocations } = of({ ...cancelled, outerLimit: 4_722 });
    expect(invocations[0]).toMatchObject({
      auto_await_outcome: "cancelled",
      auto_await_clamp_reasons: ["remaining_run_budget"],
      returned_running: true,
    });
    expect(trial).toMatchObject({ auto_await_cap_crossings: 0, budget_clamped_auto_await_count: 0 });
  });

  test("counts a wait that the budget shortened though the process ended first", () => {
    const spec: RunSpec = {
      settings: { foreground_auto_await_max_seconds: 0, process_wait_slice_seconds: "none" },
      plan: [runs(command(lasts(100))), submits],
      ...budgeted,
    };
    expect(of({ ...spec, told: 800 }).trial).toMatchObject({
      budget_clamped_process_wait_count: 1,
      wait_slice_count: 0,
      total_process_wait_seconds: 85,
    });
  });

  describe("knows of the reserve", () => {
    const into = (length: number, more: Partial<RunSpec> = {}) =>
      of({ ...budgeted, plan: [thinks(length), submits], ...more }).trial;

    test("when the clock passed its start, if it did", () => {
      expect(into(4_799.999)).toMatchObject({ time_entered_finalization_reserve: null, reserve_used_seconds: 0 });
      expect(into(4_800)).toMatchObject({ time_entered_finalization_reserve: 4_800, reserve_used_seconds: 0 });
      expect(into(5_000)).toMatchObject({ time_entered_finalization_reserve: 4_800, reserve_used_seconds: 200 });
    });

    test("from the beginning where there is nothing else", () => {
      expect(into(10, { told: 300 })).toMatchObject({ time_entered_finalization_reserve: 0, reserve_used_seconds: 10 });
    });

    test("without having been told, as what was used of it, but not as a moment", () => {
      const { told: _, reserve: __, ...untold } = budgeted;
      expect(of({ ...untold, plan: [thinks(5_000), submits] }).trial).toMatchObject({
        time_entered_finalization_reserve: null,
        reserve_used_seconds: 200,
        first_budget_signal_seconds: null,
      });
    });

    test("as what of it was held: by waits and auto-await, by initial holds, by hard timeouts, each apart", () => {
      const heedless = {
        foreground_auto_await_budget_aware: false,
        process_wait_budget_aware: false,
        process_wait_slice_seconds: "none",
        foreground_auto_await_max_seconds: 60,
      } as const;
      const held = session({ ...budgeted, settings: heedless }, function* (hands) {
        yield* hands.pass(4_775);
        yield* hands.exec(command(hangs()));
        yield* hands.wait(1, 30);
        yield* hands.exec(command(hangs()));
        yield* hands.exec(command(hangs()), { timeout: 20 });
      });
      expect(rowsOf(alone(held)).trial).toMatchObject({
        held_in_reserve_seconds: 35 + 30 + 50,
        initial_held_in_reserve_seconds: 10,
        hard_held_in_reserve_seconds: 20,
      });
    });
  });

  test("has what was held on commands that never came to their own end, and on no other", () => {
    const plan = (length: number | null) => [
      runs(length === null ? command(hangs()) : command(lasts(length))),
      submits,
    ];
    const waiting = {
      settings: { foreground_auto_await_max_seconds: 0 },
      profile: {
        waits: [{ from: 1, length: seconds(30) }],
        stopsAProcess: [{ quietWaits: 3, running: null, failureSeen: null }],
      },
    };
    expect(of({ ...waiting, plan: plan(null) }).trial).toMatchObject({ held_on_unfinished_seconds: 10 + 3 * 30 });
    expect(of({ ...waiting, plan: plan(60) }).trial).toMatchObject({ held_on_unfinished_seconds: 0 });
    expect(of({ ...waiting, plan: plan(null), outerLimit: 60 }).trial).toMatchObject({
      held_on_unfinished_seconds: 50,
    });
    // A command that ends after it was last seen has come to its own end all the same.
    const background = [
      runs(command(lasts(60)), { background: true, id: "job" }),
      { step: "status", of: "job", thenStep: false },
      thinks(100),
      submits,
    ] as const;
    expect(of({ plan: background }).trial).toMatchObject({
      held_on_unfinished_seconds: 0,
      processes_stopped: 0,
      processes_left_running: 0,
    });
  });

  test("counts a process that a limit ended unseen as stopped, and one that lives on as left running", () => {
    const plan = [
      runs(command(hangs()), { background: true, timeout: 20, id: "limited" }),
      runs(command(hangs()), { background: true, id: "left" }),
      thinks(100),
      submits,
    ];
    expect(of({ plan }).trial).toMatchObject({ processes_stopped: 1, processes_left_running: 1 });
  });

  test("first hears of the budget from a reason, from what remains, or from guidance", () => {
    const first = (when: "always" | "when_clamped" | "never", plan: RunSpec["plan"]) =>
      of({ ...budgeted, settings: { remaining_budget_on_results: when }, plan }).trial.first_budget_signal_seconds;
    const short = runs(command(lasts(3)));
    expect(first("always", [thinks(7), short, submits])).toBe(10);
    expect(first("when_clamped", [thinks(7), short, submits])).toBeNull();
    expect(first("when_clamped", [thinks(4_100), short, submits])).toBe(4_103);
    expect(first("never", [thinks(4_100), short, submits])).toBeNull();
    expect(first("never", [thinks(4_795), runs(command(hangs()))])).toBe(4_805);
  });
});

describe("rows of events", () => {
  test("are one for each event, with its place, its moment and its line", () => {
    const trialEvents = aRun(hungTestRun({ ...budgeted, told: 5_400 }));
    const into = openEvents({ arm: ["budgeted"], scenario: ["hung-test-run"] });
    const owner = { trialId: null, exhibit: "hung-test-run", arm: "budgeted", seed: 2 ** 40, replicate: 3 };
    pushEvents(trialEvents, owner, into);
    const written = rows(into);
    expect(written.map(({ event }) => event)).toEqual(trialEvents.map(({ event }) => event));
    expect(written.map(({ event_index }) => event_index)).toEqual(trialEvents.map((_, index) => index));
    expect(written[0]).toEqual({
      trial_id: null,
      exhibit: "hung-test-run",
      arm: "budgeted",
      seed: 2 ** 40,
      replicate: 3,
      event_index: 0,
      at_seconds: 0,
      event: "trial_began",
      call_index: null,
      request_index: null,
      process_id: null,
      until_seconds: null,
      journal: null,
    });
    expect(written[2]).toMatchObject({
      at_seconds: 310,
      event: "auto_await_granted",
      call_index: 1,
      process_id: 1,
      until_seconds: 540,
      journal: "held     process-1  until 540.000",
    });
  });

  test("have no end for a hold without end", () => {
    const [granted] = aRun({
      settings: { foreground_auto_await_max_seconds: "none" },
      plan: [runs(command(lasts(100))), submits],
    }).filter(({ event }) => event === "auto_await_granted");
    expect(granted).toMatchObject({ until: never });
    const into = openEvents({ arm: ["a"], scenario: [] });
    pushEvents([granted as TrialEvent], { trialId: 1, exhibit: null, arm: "a", seed: 1, replicate: 1 }, into);
    expect(rows(into)[0]).toMatchObject({ until_seconds: null, journal: "held     process-1  until it ends" });
  });
});

describe("a finite command that is killed", () => {
  const killed = (
    what: ReturnType<typeof command>,
    settings: RunSpec["settings"] = { hard_timeout_default_seconds: 60 },
  ) => of({ settings, plan: [runs(what), submits] }).trial.finite_commands_killed;

  test("is work thrown away, and counted once", () => {
    expect(killed(command(lasts(100)))).toBe(1);
    expect(killed(command(lasts(8)), { hard_timeout_default_seconds: 5 })).toBe(1);
    expect(killed(command(lasts(100)), { foreground_auto_await_max_seconds: 60, foreground_at_cap: "kill" })).toBe(1);
  });

  test("but not one that ends by itself, or never would", () => {
    expect(killed(command(lasts(59)))).toBe(0);
    expect(killed(command(hangs()))).toBe(0);
  });
});
