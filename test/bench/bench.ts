/**
 * How fast, as ratios within one run: whole trials against the bare kernel and against SimPy, rows into DuckDB.
 *
 * Machines differ and are noisy, so a figure is the median of several turns, and what is compared takes turns.
 * Nothing here is a test: a table for people, one object for programs (`--json`).
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { dictionariesOf, WorldRows } from "../../src/cli/keep.ts";
import { openScreen } from "../../src/cli/screen.ts";
import { conductWorld, entrant } from "../../src/experiment/conduct.ts";
import { scheduled } from "../../src/experiment/schedule.ts";
import { keyed } from "../../src/random.ts";
import { loadPanel } from "../../src/scenario/load.ts";
import { fakeClock } from "../../src/world/clock.ts";
import { LiveWorld, trialOn } from "../../src/world/live.ts";
import { scriptedPort } from "../../src/world/scriptedPort.ts";
import { bareKernel } from "./bareKernel.ts";
import { handBack } from "./handBack.ts";
import { rowByRowPerSecond, rowsPerSecond } from "./rows.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const json = process.argv.includes("--json");
const screen = openScreen({ stream: process.stderr, environment: process.env });

/** Turns that each thing takes; the first is for warming up and does not count. */
const TURNS = 6;
const WORLDS = 60;
/** Trials that fake timers are given: they take several times as long. */
const FAKE_TRIALS = 1_500;

interface Turn {
  readonly seconds: number;
  readonly trials: number;
  readonly events: number;
}

screen.line("whole trials, the bare kernel and SimPy take turns");
/** A panel, and where the rows of its trials go. */
const measured = (path: string) => {
  const panel = loadPanel(join(root, path));
  const tasks = scheduled(panel, keyed);
  return { panel, tasks, rows: new WorldRows(panel, "bench", "calls", dictionariesOf(panel, "bench")) };
};
const headline = measured("panels/deepswe-headline.yaml");
/** With a provider, its cache and prices, and conversations that grow and are compacted. */
const fullWorld = measured("panels/long-tail.yaml");
const { panel, tasks } = headline;
const whole: Turn[] = [];
const full: Turn[] = [];
const bare: Turn[] = [];
const simpy: (Turn & { readonly library: string })[] = [];
const fake: Turn[] = [];
for (let turn = 0; turn < TURNS; turn += 1) {
  const trials = timed(() => wholeTrials(headline, turn * WORLDS));
  const priced = timed(() => wholeTrials(fullWorld, turn * WORLDS));
  const kernel = timed(() => ({ trials: 0, events: bareKernel(trials.events) }));
  const other = simpyTrials(2_700);
  const live = await fakeTimersTrials();
  if (turn === 0) continue;
  whole.push(trials);
  full.push(priced);
  bare.push(kernel);
  fake.push(live);
  if (other !== null) simpy.push(other);
}

screen.line("rows into DuckDB");
const rowRates: number[] = [];
const rowByRow: number[] = [];
for (let turn = 0; turn < 3; turn += 1) {
  rowRates.push(await rowsPerSecond(2_000_000));
  rowByRow.push(await rowByRowPerSecond(100_000));
}

screen.line("a served session: idle, and handing back 1,000 commands");
const served = await handBack(root);

screen.line("memory of runs of 10 and 300 replicates");
const memory = { few: residentMegabytes(10), many: residentMegabytes(300) };

const eventsPerSecond = median(whole.map(({ events, seconds }) => events / seconds));
const trialsPerSecond = median(whole.map(({ trials, seconds }) => trials / seconds));
const result = {
  events_per_second: Math.round(eventsPerSecond),
  events_per_trial: Number((whole[0]!.events / whole[0]!.trials).toFixed(1)),
  trials_per_second: Math.round(trialsPerSecond),
  events_per_second_with_provider: Math.round(median(full.map(({ events, seconds }) => events / seconds))),
  rows_per_second: Math.round(median(rowRates)),
  resident_megabytes: memory,
  served,
  ratios: {
    bare_kernel: ratio(
      whole.map((turn, index) => turn.events / turn.seconds / (bare[index]!.events / bare[index]!.seconds)),
    ),
    simpy:
      simpy.length === 0
        ? null
        : ratio(
            whole.map((turn, index) => turn.trials / turn.seconds / (simpy[index]!.trials / simpy[index]!.seconds)),
          ),
    fake_timers: ratio(
      whole.map((turn, index) => turn.trials / turn.seconds / (fake[index]!.trials / fake[index]!.seconds)),
    ),
    row_by_row: ratio(rowRates.map((rate, index) => rate / rowByRow[index]!)),
    memory_300_to_10: Number((memory.many / memory.few).toFixed(2)),
  },
};

if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
else {
  const { table, line } = openScreen({ stream: process.stdout, environment: process.env });
  table(
    ["what", "figure"],
    [
      ["events per second, whole trials with rows folded, one core", result.events_per_second.toLocaleString("en")],
      ["the same with provider, cache and context", result.events_per_second_with_provider.toLocaleString("en")],
      ["events per trial", String(result.events_per_trial)],
      ["trials per second", result.trials_per_second.toLocaleString("en")],
      ["rows per second into a DuckDB file", result.rows_per_second.toLocaleString("en")],
      ["resident memory, 10 and 300 replicates (MB)", `${memory.few} and ${memory.many}`],
      ["ratio to the bare kernel (events)", String(result.ratios.bare_kernel)],
      [
        `ratio to ${simpy[0]?.library ?? "SimPy (not installed: Debian's python3-simpy3 or python3-simpy)"} (trials)`,
        String(result.ratios.simpy ?? "–"),
      ],
      ["served session, idle: share of a core", served === null ? "–" : `${(served.idleShare * 100).toFixed(2)} %`],
      ["ratio to the live driver on fake timers (trials)", String(result.ratios.fake_timers)],
      ["ratio to DuckDB's row writer (rows)", String(result.ratios.row_by_row)],
      ["ratio of memory, 300 to 10 replicates", String(result.ratios.memory_300_to_10)],
    ],
    "lr",
  );
  line();
}

function wholeTrials(
  { panel, tasks, rows }: typeof headline,
  from: number,
): { readonly trials: number; readonly events: number } {
  let trials = 0;
  let events = 0;
  for (let replicate = from + 1; replicate <= from + WORLDS; replicate += 1) {
    const world = conductWorld(panel, tasks, replicate, (trial) => {
      trials += 1;
      rows.take(trial);
    });
    rows.close(world);
    rows.clear();
    events += world.delivered;
  }
  return { trials, events };
}

function timed(work: () => { readonly trials: number; readonly events: number }): Turn {
  const begun = process.cpuUsage();
  const done = work();
  const { user, system } = process.cpuUsage(begun);
  return { ...done, seconds: (user + system) / 1e6 };
}

/** The same trials on the live driver, with fake timers as its clock. */
async function fakeTimersTrials(): Promise<Turn> {
  const arms = panel.arms;
  const begun = process.cpuUsage();
  let trials = 0;
  for (const task of [1, 2, 3, 4, 5].flatMap((replicate) => tasks(replicate))) {
    for (const arm of arms) {
      if (trials === FAKE_TRIALS) break;
      const clock = fakeClock();
      const ended = trialOn(
        new LiveWorld(clock, scriptedPort(clock)),
        entrant(arm, task, keyed, () => {}),
      );
      clock.run();
      await ended;
      trials += 1;
    }
  }
  const { user, system } = process.cpuUsage(begun);
  return { trials, events: 0, seconds: (user + system) / 1e6 };
}

/** The same trial in SimPy; null where Python has none. Its own clock counts processor time too. */
function simpyTrials(trials: number): (Turn & { readonly library: string }) | null {
  const script = join(root, "test/bench/trial_simpy.py");
  for (const python of ["python3", "/usr/bin/python3"]) {
    const { status, stdout } = spawnSync(python, [script, String(trials)], { encoding: "utf8" });
    if (status !== 0) continue;
    const said = JSON.parse(stdout) as { trials: number; seconds: number; library: string };
    return { ...said, events: 0 };
  }
  return null;
}

/** Peak resident memory of a whole run, report included, in megabytes, as its own process accounts for it. */
function residentMegabytes(replicates: number): number {
  const out = mkdtempSync(join(tmpdir(), "yieldpoint-bench-"));
  const program = fileURLToPath(new URL("measuredRun.js", import.meta.url));
  try {
    const said = execFileSync(process.execPath, [program, root, String(replicates), join(out, "run")], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return Number(said.trim());
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function ratio(values: readonly number[]): number {
  return Number(median(values).toFixed(2));
}
