/**
 * How often verdicts are right, over 1,000 panels of each kind: arms that are alike must be told apart as seldom as the level says,
 * and an effect of the size that a panel is planned for must be shown about as often as planned.
 *
 * Nothing here is a test: a table for people, one object for programs (`--json`). `test/report/chance.test.ts` holds a smaller one to it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openScreen } from "../../src/cli/screen.ts";
import { wilson } from "../../src/stats/wilson.ts";
import { panelsOfChance } from "./panelsOfChance.ts";

const EXPERIMENTS = 1_000;
const REPLICATES = 20;

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const screen = openScreen({ stream: process.stderr, environment: process.env });
const out = mkdtempSync(join(tmpdir(), "yieldpoint-study-"));
try {
  screen.line(
    `${EXPERIMENTS} panels of ${REPLICATES} replicates, alike and with an effect planted: some three minutes`,
  );
  const { alike, planted } = await panelsOfChance({
    panel: join(root, "test/bench/alike.yaml"),
    experiments: EXPERIMENTS,
    replicates: REPLICATES,
    database: join(out, "worlds.duckdb"),
  });
  const ps = (hypothesis: number) => alike.judged.map((each) => each[hypothesis]!.p);
  const small = (hypothesis: number, level: number) => share(ps(hypothesis).filter((p) => p <= level).length);
  const figures = {
    experiments: EXPERIMENTS,
    replicates: REPLICATES,
    alike: {
      duration_rejected_at_5_percent: small(0, 0.05),
      duration_rejected_at_20_percent: small(0, 0.2),
      outer_timeout_rejected_at_5_percent: small(1, 0.05),
      any_of_both_shown: share(
        alike.judged.filter((each) => each.some(({ verdict }) => verdict !== "NOT SHOWN")).length,
      ),
      /** How far the p-values of durations lie from a uniform distribution, at most; under 1.36/√n in 19 of 20 such studies. */
      duration_from_uniform: { distance: distance(ps(0)), usual: 1.36 / Math.sqrt(EXPERIMENTS) },
    },
    planted: {
      seconds: planted.planted,
      planned_power: 0.8,
      passed: share(planted.judged.filter(([only]) => only!.verdict === "PASS").length),
    },
  };
  if (process.argv.includes("--json")) process.stdout.write(`${JSON.stringify(figures)}\n`);
  else {
    const { table, line } = openScreen({ stream: process.stdout, environment: process.env });
    const told = ({ value, low, high }: ReturnType<typeof share>) =>
      `${percent(value)} (95 % ${percent(low)} to ${percent(high)})`;
    const { alike: same, planted: other } = figures;
    table(
      [`${EXPERIMENTS} panels of ${REPLICATES} replicates`, "expected", "found"],
      [
        ["arms alike: durations differ at 5 %", "5.0 %", told(same.duration_rejected_at_5_percent)],
        ["arms alike: durations differ at 20 %", "20.0 %", told(same.duration_rejected_at_20_percent)],
        [
          "arms alike: outer timeouts differ at 5 %, by permutation",
          "5.0 % at most",
          told(same.outer_timeout_rejected_at_5_percent),
        ],
        ["arms alike: either of both shown, by Holm", "5.0 % at most", told(same.any_of_both_shown)],
        [
          "arms alike: p-values of durations, farthest from uniform",
          `${same.duration_from_uniform.usual.toFixed(3)} at most`,
          same.duration_from_uniform.distance.toFixed(3),
        ],
        [`planted, ${other.seconds.toFixed(0)} s quicker: PASS`, "80.0 %, as planned", told(other.passed)],
      ],
      "lrr",
    );
    line();
  }
} finally {
  rmSync(out, { recursive: true, force: true });
}

function share(of: number) {
  const { value, low, high } = wilson(of, EXPERIMENTS, 0.95);
  return { value, low, high };
}

function percent(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}

/** Kolmogorov's: between the shares that lie below a value and the value. */
function distance(ps: readonly number[]): number {
  const ordered = ps.toSorted((a, b) => a - b);
  return Math.max(
    ...ordered.map((p, at) => Math.max(Math.abs(p - at / ps.length), Math.abs(p - (at + 1) / ps.length))),
  );
}
