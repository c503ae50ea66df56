import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  expected,
  insideName,
  type SettingKey,
  settingFault,
  settingKeys,
  settingsFaults,
  settingsOf,
  settingsTable,
  shipped,
  type WrittenSettings,
  written,
  writtenDefaults,
} from "../../src/policy/settings.ts";
import { anySettings } from "../arbitraries.ts";

/** The design's tables, key by key; whatever has no default there is off. */
const designed: Readonly<Record<SettingKey, number | string | boolean>> = {
  foreground_idle_yield_seconds: 10,
  foreground_total_yield_seconds: 30,
  foreground_auto_await_max_seconds: 30,
  foreground_auto_await_budget_aware: true,
  foreground_auto_await_extends_on_output: false,
  foreground_auto_await_absolute_max_seconds: 600,
  foreground_at_cap: "yield",
  hand_over_exempts: "nothing",
  auto_await_risk: "off",
  risk_cap_full_test_suite_seconds: "none",
  risk_cap_watch_or_server_seconds: "none",
  risk_cap_daemon_seconds: "none",
  risk_cap_quiet_seconds: "none",
  risk_cap_overdue_seconds: "none",
  risk_cap_late_in_run_seconds: "none",
  risk_late_in_run_fraction: 0.25,
  max_hold_seconds: "none",
  hard_timeout_default_seconds: "none",
  hard_timeout_by_class: false,
  hard_timeout_test_seconds: 900,
  hard_timeout_build_seconds: 1_800,
  hard_timeout_network_seconds: 300,
  hard_timeout_other_seconds: 30,
  hard_timeout_max_seconds: 3_600,
  hard_timeout_out_of_range: "refuse",
  hard_timeout_budget_aware: false,
  hard_timeout_suppresses_yield: true,
  timeout_hands_over: false,
  hard_timeout_stall_seconds: "none",
  hard_timeout_stall_max_seconds: 600,
  inactivity_kill_seconds: "none",
  total_timeout_seconds: "none",
  total_timeout_rearms_seconds: "none",
  without_reader: "ignore",
  foreground_only_timeout_default_seconds: 120,
  foreground_only_timeout_max_seconds: 300,
  timeout_strikes: "none",
  command_time_max_seconds: "none",
  leading_sleep_refused_seconds: "none",
  duplicate_start: "allow",
  exclusive_shell: false,
  process_slots: "none",
  process_slots_full: "refuse",
  process_slots_protected: 8,
  shell_calls_per_minute: "none",
  shell_calls_per_ten_seconds: "none",
  kill_grace_seconds: 2,
  kill_reaches: "tree",
  completion: "exit",
  output_on_timeout: "kept",
  process_poll_max_wait_seconds: 3_600,
  process_poll_over_max: "clamp",
  process_poll_min_wait_seconds: 10,
  process_poll_default_wait_seconds: 30,
  process_wait_slice_seconds: "auto",
  process_wait_budget_aware: true,
  process_wait_wake_on_output: false,
  condition_wait_max_seconds: 0,
  condition_wait_default_seconds: 120,
  condition_wait_budget_aware: true,
  condition_probe_every_seconds: 5,
  condition_probe_every_min_seconds: 5,
  condition_probe_every_max_seconds: 60,
  condition_probe_limit_seconds: 30,
  failure_evidence: "none",
  failure_evidence_ends_waits: false,
  cache_aware_slice: false,
  cache_slice_margin_seconds: 15,
  cache_lifetime_seconds: "none",
  deadline_notice_share: "none",
  deadline_notice_again_share: "none",
  wrap_up_in_reserve: false,
  soft_deadline_share: "none",
  soft_deadline_min_timeout_seconds: 120,
  soft_deadline_ends_holds: false,
  salvages_job_text: true,
  joint_ledger: false,
  user_stop_ends: "session",
  exit_waits_for_jobs: false,
  exit_wait_max_seconds: "none",
  clean_exit: "usual",
  exit_grace_seconds: 0,
  completion_notice: "none",
  notice_batch_tasks: 32,
  notice_batch_bytes: 8_192,
  notice_description_bytes: 256,
  notice_wakes: 3,
  notice_window_length_seconds: 60,
  notice_window: "fixed",
  delivery_gives_up_after_seconds: "none",
  unread_reminder_steps: "none",
  unread_reminder_tasks: 5,
  background_watchdog_seconds: "none",
  repeated_read_hint: false,
  quiet_poll_hint_after: "none",
  quiet_poll_hint_floor_seconds: 300,
  poll_folding: false,
  heartbeat: false,
  usual_length_test_seconds: "none",
  usual_length_build_seconds: "none",
  usual_length_network_seconds: "none",
  usual_length_other_seconds: "none",
  finalization_reserve_seconds: 600,
  finalization_reserve_fraction: "none",
  finalization_reserve_min_seconds: 300,
  finalization_reserve_max_seconds: 1_800,
  budget_margin_seconds: 0,
  remaining_budget_on_results: "when_clamped",
  cpu_on_results: false,
  output_budget_bytes: 16_000,
  output_head_share: 0.5,
  output_retained_bytes: 2 * 1_024 * 1_024,
  read_output_limit_bytes: 33_000,
};

const BOUNDS: readonly SettingKey[] = [
  "foreground_idle_yield_seconds",
  "foreground_total_yield_seconds",
  "foreground_auto_await_max_seconds",
  "foreground_auto_await_absolute_max_seconds",
  "risk_cap_full_test_suite_seconds",
  "risk_cap_watch_or_server_seconds",
  "risk_cap_daemon_seconds",
  "risk_cap_quiet_seconds",
  "risk_cap_overdue_seconds",
  "risk_cap_late_in_run_seconds",
  "max_hold_seconds",
  "hard_timeout_default_seconds",
  "hard_timeout_test_seconds",
  "hard_timeout_build_seconds",
  "hard_timeout_network_seconds",
  "hard_timeout_other_seconds",
  "hard_timeout_max_seconds",
  "hard_timeout_stall_seconds",
  "inactivity_kill_seconds",
  "total_timeout_seconds",
  "total_timeout_rearms_seconds",
  "timeout_strikes",
  "command_time_max_seconds",
  "leading_sleep_refused_seconds",
  "process_slots",
  "shell_calls_per_minute",
  "shell_calls_per_ten_seconds",
  "process_poll_max_wait_seconds",
  "process_wait_slice_seconds",
  "delivery_gives_up_after_seconds",
  "unread_reminder_steps",
  "background_watchdog_seconds",
  "quiet_poll_hint_after",
  "usual_length_test_seconds",
  "usual_length_build_seconds",
  "usual_length_network_seconds",
  "usual_length_other_seconds",
  "finalization_reserve_seconds",
];

const whole = (layer: WrittenSettings) => written(settingsOf(layer));
const faults = (layer: WrittenSettings) => settingsFaults(layer, whole(layer));

describe("settings as shipped", () => {
  test("are those of the design, key by key", () => {
    expect(writtenDefaults).toEqual(designed);
    expect(written(shipped)).toEqual(designed);
  });

  test("are all within their own range, and go together", () => {
    for (const key of settingKeys) expect([key, settingFault(key, writtenDefaults[key])]).toEqual([key, null]);
    expect(settingsFaults({}, writtenDefaults)).toEqual([]);
  });

  test("say what they mean, in a sentence without its full stop", () => {
    for (const key of settingKeys) expect(settingsTable[key].says).toMatch(/^[a-z].{10,}[^.]$/);
  });
});

describe("a setting", () => {
  test.each(BOUNDS)("%s may be none: the bound does not apply", (key) => {
    expect(settingFault(key, "none")).toBeNull();
    expect(settingsOf({ [key]: "none" })[insideName(key)]).toBeNull();
  });

  test("in seconds is in milliseconds inside, without its unit", () => {
    expect(settingsOf({ foreground_auto_await_max_seconds: 240.5, process_wait_slice_seconds: 1.25 })).toMatchObject({
      foregroundAutoAwaitMax: 240_500,
      processWaitSlice: 1_250,
    });
    expect(insideName("output_budget_bytes")).toBe("outputBudgetBytes");
  });

  test("comes back as it was written, whatever was", () => {
    fc.assert(
      fc.property(anySettings, (layer) => {
        expect(settingsOf(whole(layer))).toEqual(settingsOf(layer));
        const { finalization_reserve_seconds: _, finalization_reserve_fraction: __, ...rest } = layer;
        expect(whole(rest)).toMatchObject(rest);
      }),
    );
  });

  test.each([
    ["foreground_auto_await_max_seconds", [0, 3_600, "none"], [-1, 3_600.5, "240", null, Number.NaN, "auto"]],
    ["foreground_at_cap", ["yield", "background", "kill"], ["stop", true]],
    ["completion_notice", ["none", "next_step", "wake"], ["always", true]],
    ["notice_batch_tasks", [1, 32], [0, 1.5, "none"]],
    ["notice_batch_bytes", [1_024, 8_192], [1_023, "none"]],
    ["notice_description_bytes", [4, 256], [3, 257, "none"]],
    ["notice_wakes", [1, 3], [0, 0.5, "none"]],
    ["notice_window_length_seconds", [0.001, 60], [0, "none"]],
    ["notice_window", ["fixed", "sliding"], ["none"]],
    ["delivery_gives_up_after_seconds", ["none", 300], [0]],
    ["unread_reminder_steps", ["none", 1, 15], [0, 2.5]],
    ["background_watchdog_seconds", ["none", 3_600], [0, -1]],
    ["quiet_poll_hint_after", ["none", 1, 4], [0, 1.5]],
    ["usual_length_test_seconds", ["none", 900], [-1]],
    ["auto_await_risk", ["off", "advisory"], ["on", true]],
    ["risk_cap_daemon_seconds", [0, 60, "none"], [-1, "auto"]],
    ["risk_late_in_run_fraction", [0, 0.25, 1], [1.1, -0.1, "none"]],
    ["max_hold_seconds", [1, 60, "none"], [0, 0.5, -1]],
    ["hard_timeout_by_class", [true, false], ["gaia", 900]],
    ["hard_timeout_test_seconds", [0.001, 900, "none"], [0, -1]],
    ["total_timeout_seconds", [0.001, 3_600, "none"], [0, -1]],
    ["total_timeout_rearms_seconds", [0.001, 600, "none"], [0, -1]],
    ["hand_over_exempts", ["nothing", "sleep_and_git"], ["git", true, "none"]],
    ["timeout_hands_over", [true, false], ["yes"]],
    ["without_reader", ["ignore", "foreground_only"], ["kill"]],
    ["foreground_only_timeout_default_seconds", [0.001, 120], ["none", 0]],
    ["foreground_only_timeout_max_seconds", [0.001, 300], ["none", 0]],
    ["timeout_strikes", [1, 3, "none"], [0, 1.5, -1]],
    ["command_time_max_seconds", [0.001, 1_800, "none"], [0, -1]],
    ["leading_sleep_refused_seconds", [0.001, 2, "none"], [0, "2 s"]],
    ["duplicate_start", ["allow", "flag", "refuse"], ["merge"]],
    ["exclusive_shell", [true, false], ["yes", 1]],
    ["process_slots", [1, 64, "none"], [0, 2.5, -1]],
    ["process_slots_full", ["refuse", "prune"], ["evict"]],
    ["process_slots_protected", [0, 8], ["none", -1, 0.5]],
    ["shell_calls_per_minute", [1, 10, "none"], [0, 0.5]],
    ["shell_calls_per_ten_seconds", [1, 3, "none"], [0, "3"]],
    ["cpu_on_results", [true, false], ["cpu"]],
    ["inactivity_kill_seconds", [0.001, 300, "none"], [0, -1]],
    ["hard_timeout_stall_seconds", [0.001, 60, "none"], [0, -1]],
    ["hard_timeout_stall_max_seconds", [0, 600], ["none", -1]],
    ["hard_timeout_max_seconds", [0.001, "none"], [0, -1]],
    ["kill_grace_seconds", [0, 2, 3_600], ["none", -1]],
    ["process_poll_over_max", ["clamp", "refuse"], ["clip"]],
    ["process_wait_slice_seconds", ["auto", "none", "model_cadence", 240], [0, -1, "slow"]],
    ["finalization_reserve_fraction", [0, 0.1, 0.5, "none"], [0.6, -0.1]],
    ["process_wait_budget_aware", [true, false], ["yes", 1, "true"]],
    ["output_budget_bytes", [0, 16_000], [1.5, -1, "none", Number.POSITIVE_INFINITY]],
    ["output_head_share", [0, 1, 0.5], [1.1, -0.1, "none"]],
    ["remaining_budget_on_results", ["always", "when_clamped", "never"], ["sometimes"]],
  ] as const)("%s is taken within its range and refused outside it", (key, taken, refused) => {
    for (const value of taken) expect([value, settingFault(key, value)]).toEqual([value, null]);
    for (const value of refused)
      expect([value, settingFault(key, value)]).toEqual([value, expected(settingsTable[key])]);
  });

  test("that is refused is told what was expected", () => {
    expect(settingFault("foreground_auto_await_max_seconds", -1)).toBe(
      "a length of time in seconds, 0 to 3600, or none",
    );
    expect(settingFault("foreground_idle_yield_seconds", -1)).toBe("a length of time in seconds, 0 or more, or none");
    expect(settingFault("foreground_at_cap", "stop")).toBe("yield or background or kill");
    expect(settingFault("process_wait_slice_seconds", 0)).toBe(
      "a length of time in seconds (more than 0), or auto, none, model_cadence",
    );
    expect(settingFault("output_head_share", 2)).toBe("a share, 0 to 1");
    expect(settingFault("output_budget_bytes", -1)).toBe("a whole number of bytes, 0 to 1073741824");
    expect(settingFault("process_wait_budget_aware", "no")).toBe("true or false");
  });
});

describe("layers of settings", () => {
  test("win key by key, the later over the earlier", () => {
    const settings = settingsOf(
      { foreground_auto_await_max_seconds: 240, process_wait_slice_seconds: 240 },
      { process_wait_slice_seconds: "none" },
    );
    expect(settings).toEqual({ ...shipped, foregroundAutoAwaitMax: 240_000, processWaitSlice: null });
  });

  test("that give the reserve as a share silence a length below them, and the other way round", () => {
    const share = settingsOf({ finalization_reserve_seconds: 900 }, { finalization_reserve_fraction: 0.1 });
    expect([share.finalizationReserve, share.finalizationReserveFraction]).toEqual([null, 0.1]);
    const fixed = settingsOf({ finalization_reserve_fraction: 0.1 }, { finalization_reserve_seconds: 900 });
    expect([fixed.finalizationReserve, fixed.finalizationReserveFraction]).toEqual([900_000, null]);
    const unshared = settingsOf({ finalization_reserve_seconds: 900 }, { finalization_reserve_fraction: "none" });
    expect([unshared.finalizationReserve, unshared.finalizationReserveFraction]).toEqual([900_000, null]);
  });
});

describe("values that are fine one by one are refused together:", () => {
  test("a reserve given as a length and as a share", () => {
    expect(faults({ finalization_reserve_seconds: 600, finalization_reserve_fraction: 0.1 })).toEqual([
      {
        key: "finalization_reserve_fraction",
        says: "is 0.1 beside finalization_reserve_seconds 600: a reserve is a length or a share, give one",
      },
    ]);
    expect(faults({ finalization_reserve_seconds: "none", finalization_reserve_fraction: 0.1 })).toEqual([]);
    expect(faults({ finalization_reserve_seconds: 600, finalization_reserve_fraction: "none" })).toEqual([]);
  });

  test("a longest hold under the total boundary of the initial hold, or without such a boundary", () => {
    expect(faults({ max_hold_seconds: 30 })).toEqual([]);
    expect(faults({ max_hold_seconds: 29 })).toEqual([
      {
        key: "max_hold_seconds",
        says: "is 29: it must be at least foreground_total_yield_seconds (30), so that no initial hold is cut",
      },
    ]);
    expect(faults({ max_hold_seconds: 20, foreground_total_yield_seconds: 20 })).toEqual([]);
    expect(faults({ max_hold_seconds: 60, foreground_total_yield_seconds: "none" })).toEqual([
      {
        key: "max_hold_seconds",
        says: "is 60: it must be at least foreground_total_yield_seconds (none), so that no initial hold is cut",
      },
    ]);
  });

  test("risk that counts where no risk has a cap", () => {
    expect(faults({ auto_await_risk: "advisory", risk_cap_daemon_seconds: 60 })).toEqual([]);
    expect(faults({ auto_await_risk: "advisory" })).toEqual([
      {
        key: "auto_await_risk",
        says: "is advisory where no risk has a cap: give risk_cap_full_test_suite_seconds, risk_cap_watch_or_server_seconds, risk_cap_daemon_seconds, risk_cap_quiet_seconds, risk_cap_overdue_seconds, risk_cap_late_in_run_seconds, or one of them",
      },
    ]);
  });

  test("a least share of the reserve above the most, and a usual timeout above the longest", () => {
    expect(faults({ finalization_reserve_min_seconds: 2_000 })).toEqual([
      {
        key: "finalization_reserve_min_seconds",
        says: "is 2000: it must not exceed finalization_reserve_max_seconds (1800)",
      },
    ]);
    expect(faults({ hard_timeout_default_seconds: 120, hard_timeout_max_seconds: 60 })).toEqual([
      { key: "hard_timeout_default_seconds", says: "is 120: it must not exceed hard_timeout_max_seconds (60)" },
    ]);
    expect(faults({ hard_timeout_default_seconds: 120, hard_timeout_max_seconds: "none" })).toEqual([]);
  });
});

test("a wait for a condition leaves nothing open that it would refuse", () => {
  const faults = (layer: WrittenSettings) =>
    settingsFaults(layer, whole(layer)).map(({ key, says }) => `${key} ${says}`);
  expect(faults({ condition_wait_max_seconds: 60 })).toEqual([
    "condition_wait_default_seconds is 120: it must not exceed condition_wait_max_seconds (60)",
  ]);
  expect(faults({ condition_probe_every_min_seconds: 10 })).toEqual([
    "condition_probe_every_seconds is 5: it must be from condition_probe_every_min_seconds (10) to condition_probe_every_max_seconds (60)",
  ]);
  expect(faults({ condition_wait_max_seconds: 600 })).toEqual([]);
});

test("a text that is looked for is one line, and not endless", () => {
  expect(settingFault("failure_evidence", "FAILED | error:")).toBeNull();
  for (const text of ["", "a\nb", "x".repeat(2_001), 7]) {
    expect(settingFault("failure_evidence", text)).toBe("text of 2000 characters at most, in one line, or none");
  }
});
