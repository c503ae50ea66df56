/** What a model is told before its first call. */
import { describe, expect, test } from "vitest";
import { runBudget } from "../../src/policy/budget.ts";
import { settingsOf, type WrittenSettings } from "../../src/policy/settings.ts";
import { seconds } from "../../src/policy/time.ts";
import { EXEC_ARGUMENTS, PROCESS_ARGUMENTS } from "../../src/serve/asked.ts";
import { toolsUnder } from "../../src/serve/tools.ts";
import { served } from "./inMemory.ts";

interface Spec {
  readonly settings?: WrittenSettings;
  readonly told?: number;
  readonly quietHold?: number;
}

function tools({ settings: layer = {}, told, quietHold }: Spec = {}) {
  const settings = settingsOf(layer);
  const budget = told === undefined ? null : runBudget({ runBudget: seconds(told) }, settings);
  return toolsUnder({ settings, budget, quietHold: quietHold === undefined ? null : seconds(quietHold) });
}

const firstLines = (spec: Spec = {}) => tools(spec).map(({ description }) => description.split("\n")[0]!);

/** A policy in which every number is another one. */
const odd: WrittenSettings = {
  foreground_idle_yield_seconds: 11,
  foreground_total_yield_seconds: 31,
  foreground_auto_await_max_seconds: 241,
  process_poll_max_wait_seconds: 3_607,
  process_poll_min_wait_seconds: 13,
  process_poll_default_wait_seconds: 37,
  process_wait_slice_seconds: 239,
};

describe("the first line of a description", () => {
  test("says the numbers of the settings in force", () => {
    expect(firstLines({ settings: odd, quietHold: 53 })).toEqual([
      "Run a command in a shell. You get its result when it ends; what still runs after 241 s is handed back alive. It is held for 11 s of silence or 31 s of running at least. A call whose client asks for no progress lasts at most 53 s.",
      "Wait for processes that exec has handed back, look at them, stop them, read their output. A wait is 13 s to 3607 s (37 s if you name none), and gives control back every 239 s. A call whose client asks for no progress lasts at most 53 s.",
    ]);
  });

  test("has no number that is not one of them, whichever is changed", () => {
    const numbers = (spec: Spec) => firstLines(spec).map((line) => line.match(/\d+(?:\.\d+)?/g) ?? []);
    expect(numbers({ settings: odd })).toEqual([
      ["241", "11", "31"],
      ["13", "3607", "37", "239"],
    ]);
    for (const [key, value] of Object.entries(odd)) {
      const changed = numbers({ settings: { ...odd, [key]: (value as number) + 1 } }).flat();
      expect(changed, key).toContain(String((value as number) + 1));
      expect(changed, key).not.toContain(String(value));
    }
  });

  test.each<[string, WrittenSettings, string]>([
    [
      "no auto-await",
      { foreground_auto_await_max_seconds: 0 },
      "what still runs after 10 s of silence or 30 s of running is handed back alive",
    ],
    ["no cap", { foreground_auto_await_max_seconds: "none" }, "when it ends, however long that takes"],
    ["a cap that kills", { foreground_at_cap: "kill" }, "what still runs after 30 s is ended"],
    [
      "a cap that output extends",
      { foreground_auto_await_extends_on_output: true },
      "after 30 s without output, or 600 s in all, is handed back alive",
    ],
    ["no idle bound", { foreground_idle_yield_seconds: "none" }, "held for 30 s of running at least"],
    ["no total bound", { foreground_total_yield_seconds: "none" }, "held for 10 s of silence at least"],
    [
      "no bound at all",
      { foreground_idle_yield_seconds: "none", foreground_total_yield_seconds: "none" },
      "however long that takes",
    ],
    [
      "a default hard timeout",
      { hard_timeout_default_seconds: 120 },
      "after 120 s it is ended, unless timeout_seconds says otherwise",
    ],
    [
      "hard timeouts by class",
      { hard_timeout_by_class: true, hard_timeout_network_seconds: 301, hard_timeout_other_seconds: "none" },
      "after no limit (900 s if it runs tests, 1800 s if it builds or installs, 301 s if it uses the network) it is ended, unless",
    ],
    ["a longest hold", { max_hold_seconds: 90 }, "No call lasts longer than 90 s."],
  ])("speaks of %s", (_, settings, says) => {
    expect(firstLines({ settings })[0]).toContain(says);
  });

  test("speaks of the slice only where there is one, and of refusal where there is that", () => {
    expect(firstLines()[1]).not.toContain("every");
    expect(firstLines({ told: 5_400 })[1]).toContain("gives control back every 240 s");
    expect(firstLines({ settings: { process_poll_over_max: "refuse" } })[1]).toContain("to 3600 s, more is refused");
    expect(firstLines({ settings: { process_poll_max_wait_seconds: "none" } })[1]).toContain("A wait is 10 s at least");
  });
});

describe("a description", () => {
  test("teaches that a live process is not to be started again", () => {
    const [exec, process] = tools();
    expect(exec.description).toContain("do NOT start it again");
    expect(process.description).toContain("A live process must not be started again.");
  });

  test("says what the reserve and guidance are where a budget is told, and that no end is known where none is", () => {
    for (const { description } of tools({ told: 5_400 })) {
      expect(description).toContain("its last 600 s are a reserve for finishing");
      expect(description).toContain("A result with `guidance` says that the reserve has begun");
    }
    for (const { description } of tools()) expect(description).toContain("How long this run lasts is not known here");
  });

  test("promises no more than the policy keeps: unaware holds are not said to heed the reserve", () => {
    const about = (settings: WrittenSettings) => tools({ settings, told: 5_400 })[0].description;
    expect(about({})).toContain("Into it no command is held and no wait granted");
    expect(about({ foreground_auto_await_budget_aware: false })).toContain("Into it no wait is granted");
    expect(about({ process_wait_budget_aware: false })).toContain("Into it no command is held");
    const neither = { foreground_auto_await_budget_aware: false, process_wait_budget_aware: false };
    expect(about(neither)).not.toContain("Into it");
  });
});

describe("a schema", () => {
  test("of arguments names those that are read", () => {
    const [exec, process] = tools();
    expect(Object.keys(exec.inputSchema.properties)).toEqual([...EXEC_ARGUMENTS]);
    expect(Object.keys(process.inputSchema.properties)).toEqual([...PROCESS_ARGUMENTS]);
    expect([exec.inputSchema.required, process.inputSchema.required]).toEqual([["command"], ["action"]]);
  });

  test("of results is what the interface says", () => {
    const [exec, process] = tools();
    expect(Object.keys(exec.outputSchema.properties).sort()).toEqual(
      [
        ...["status", "process_id", "exit_code", "signal", "elapsed_seconds", "auto_await_outcome"],
        "held_by_others_seconds",
        ...["configured_auto_await_cap_seconds", "effective_auto_await_cap_seconds", "clamp_reasons", "output"],
        ...["next_offset", "output_complete", "remaining_run_seconds", "finalization_reserve_seconds", "guidance"],
        ...["hard_timeout_seconds", "command_class", "command_risks", "surviving_processes", "output_held_open"],
        ...["silence_ended_it", "background_watchdog_seconds", "notices"],
        ...["cpu_seconds", "duplicate_of", "duplicate_elapsed_seconds"],
      ].sort(),
    );
    expect(Object.keys(process.outputSchema.properties).sort()).toEqual(
      [
        "ended_early",
        "held_by_others_seconds",
        ...["status", "process_id", "exit_code", "signal", "elapsed_seconds", "requested_wait_seconds"],
        ...["effective_wait_seconds", "wait_clamped", "clamp_reasons", "wait_raised", "wait_defaulted"],
        ...["remaining_run_seconds", "finalization_reserve_seconds", "output", "offset", "next_offset"],
        ...["output_complete", "guidance", "processes", "totals", "surviving_processes", "output_held_open"],
        ...["silence_ended_it", "hint", "notices"],
        ...["cpu_seconds"],
      ].sort(),
    );
  });

  test("reaches the client with the rest", async () => {
    const { client } = await served({ settings: odd });
    const listed = await client.listTools();
    expect(listed.tools.map(({ name, description }) => [name, description])).toEqual(
      tools({ settings: odd }).map(({ name, description }) => [name, description]),
    );
    expect(listed.tools.every(({ outputSchema }) => outputSchema !== undefined)).toBe(true);
  });
});
