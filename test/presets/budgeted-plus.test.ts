/** The best that these parts make together, and where it stands among the runtimes. */
import { describe, expect, test } from "vitest";
import { dictionariesOf } from "../../src/cli/keep.ts";
import { conductWorld } from "../../src/experiment/conduct.ts";
import { scheduled } from "../../src/experiment/schedule.ts";
import { keyed } from "../../src/random.ts";
import { loadPanel, loadPolicy } from "../../src/scenario/load.ts";
import { standings } from "../../src/stats/pareto.ts";
import { foldTrial, openTrials } from "../../src/telemetry/rows.ts";
import { command, commandOf, every, type Hands, hangs, lasts, lines, result } from "../aRun.ts";
import { rows } from "../rowsOf.ts";
import { goesOn, handedBack, preset, runs, wentOn } from "./preset.ts";

const told = { told: 5_400 };

/** The same command, at a moment of the run. */
const late = (at: number) =>
  function* (hands: Hands) {
    yield* hands.pass(at);
    return yield* runs("make", hangs())(hands);
  };

preset("budgeted-plus", [
  ["a silent command is handed back after 120 s", runs("make", hangs()), handedBack(120, "cap_reached"), told],
  ["a chatty one too", runs("make", hangs(every(1))), handedBack(120, "cap_reached"), told],
  ["and goes on, under its id", goesOn, wentOn, told],
  [
    "a server comes back after 30 s, for its risk",
    runs("npm run dev", hangs(every(5))),
    { ...handedBack(30, "cap_reached", ["command_risk"]), command_risks: ["watch_or_server"] },
    told,
  ],
  [
    "with a quarter of the run left a command comes back after 60 s",
    late(4_100),
    { ...handedBack(60, "cap_reached", ["command_risk"]), command_risks: ["late_in_run"] },
    told,
  ],
  [
    "a line that gives a failure away ends the hold at once, and nothing else",
    runs("npm test", lasts(600, lines([40, "1 failed\n"], [500, "more\n"]))),
    { status: "running", elapsed_seconds: 40, auto_await_outcome: "failure_evidence", output: "1 failed\n" },
    told,
  ],
  [
    "an hour that is asked for is granted in slices of 480 s",
    function* (hands) {
      result(yield* hands.exec(command(hangs()), { background: true }));
      return result(yield* hands.wait(1, 3_600));
    },
    { effective_wait_seconds: 480, wait_clamped: true, clamp_reasons: ["process_wait_slice"], status: "running" },
    told,
  ],
  [
    "a tenth of the run is kept: nothing is waited for inside it",
    function* (hands) {
      result(yield* hands.exec(command(hangs()), { background: true }));
      yield* hands.pass(4_900);
      return result(yield* hands.wait(1, 600));
    },
    { effective_wait_seconds: 0, clamp_reasons: ["remaining_run_budget"], finalization_reserve_seconds: 540 },
    told,
  ],
  [
    "nothing is ended that runs",
    function* (hands) {
      result(yield* hands.exec(commandOf({ phases: [hangs()], line: "pytest" })));
      yield* hands.pass(5_000);
      return result(yield* hands.status(1));
    },
    { status: "running" },
    told,
  ],
]);

/** Reward, outer timeouts, longest stretch without control, finite commands killed and cost of each arm, less of each being better. */
function objectives(seed: number): ReadonlyMap<string, readonly number[]> {
  const panel = loadPanel("panels/runtimes-by-profile.yaml", { seed });
  const tasks = scheduled(panel, keyed);
  const into = openTrials(dictionariesOf(panel, "it"));
  for (let replicate = 1; replicate <= panel.replicates; replicate += 1) {
    conductWorld(panel, tasks, replicate, (trial) => {
      const { arm, task } = trial;
      const facts = { ...trial, experimentId: "it", arm: arm.arm, scenario: task.scenario, kind: task.kind };
      foldTrial(trial.events, facts, into, null);
    });
  }
  const all = rows(into);
  return new Map(
    panel.arms.map(({ arm }) => {
      const own = all.filter((row) => row.arm === arm);
      const mean = (of: (row: (typeof own)[number]) => number) =>
        own.reduce((sum, row) => sum + of(row), 0) / own.length;
      return [
        arm,
        [
          -mean(({ reward }) => reward!),
          mean(({ outer_timeout: lost }) => Number(lost)),
          mean(({ longest_control_gap_seconds: gap }) => gap),
          mean(({ finite_commands_killed: killed }) => killed),
          mean(({ cost_usd: cost }) => cost!),
        ],
      ];
    }),
  );
}

describe("budgeted-plus among the runtimes", () => {
  // Its settings were found on seed 11; these were not looked at.
  test.each([1, 2, 3])(
    "is on the front under every habit (seed %i)",
    (seed) => {
      const found = objectives(seed);
      for (const habit of ["short", "helper-guided", "long"]) {
        const arms = [...found.keys()].filter((arm) => arm.endsWith(`.habit-${habit}`));
        expect(arms.length).toBeGreaterThanOrEqual(17);
        const stands = standings(arms.map((arm) => found.get(arm)!));
        expect(stands[arms.indexOf(`policy-budgeted-plus.habit-${habit}`)]).toEqual({ onFront: true, dominatedBy: [] });
      }
    },
    180_000,
  );

  test("loses fewer trials than what the note proposes, and holds the model for less, under every habit", () => {
    const found = objectives(4);
    for (const habit of ["short", "helper-guided", "long"]) {
      const [ours, proposed] = ["budgeted-plus", "fast-agent-budgeted"].map(
        (policy) => found.get(`policy-${policy}.habit-${habit}`)!,
      );
      expect(ours![1]).toBeLessThanOrEqual(proposed![1]!);
      expect(ours![2]).toBeLessThan(proposed![2]!);
    }
  }, 180_000);

  test("has no setting that ends a process", () => {
    const { written } = loadPolicy("budgeted-plus");
    for (const key of ["hard_timeout_default_seconds", "total_timeout_seconds", "inactivity_kill_seconds"] as const) {
      expect(written[key]).toBe("none");
    }
    expect(written.foreground_at_cap).not.toBe("kill");
  });
});
