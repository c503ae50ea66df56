/** `run`: simulates a panel, writes everything, and answers the panel's question in the terminal. */
import { join, resolve } from "node:path";
import type { Lock } from "../experiment/lock.ts";
import { partsOf, trialsOf } from "../experiment/schedule.ts";
import { FileFaults } from "../scenario/fault.ts";
import { loadPanel, type Panel } from "../scenario/load.ts";
import { spoken } from "../scenario/names.ts";
import { openStore, StoreError } from "../telemetry/store.ts";
import { literal } from "../telemetry/table.ts";
import { TABLES } from "../telemetry/tables.ts";
import type { Command, Outside } from "./command.ts";
import { keepDrilled } from "./drill.ts";
import { EXIT, Incomplete } from "./exit.ts";
import { choice, type Given, on, readFlags, text, texts, whole } from "./flags.ts";
import { type Folder, folderFault, takeFolder, writeWhole } from "./folder.ts";
import { type Verified, verified } from "./frozen.ts";
import { junitOf } from "./junit.ts";
import { conductAndKeep, DETAILS, type Detail, dictionariesOf, openingRows, type Provenance } from "./keep.ts";
import { openScreen, type Screen } from "./screen.ts";
import { printSummary, verdictCode } from "./summary.ts";
import { commandLine, engineVersion, gitState, host, sha256, versions } from "./versions.ts";

const flags = {
  out: text("folder to write into (default: out/<panel>)", "DIR"),
  seed: whole("of every draw (default: the panel's)", 0),
  replicates: whole("worlds to simulate (default: the panel's)", 1),
  detail: choice(DETAILS, "how fine the telemetry is (default: calls; trials where a panel varies something)"),
  set: texts("change a setting of an arm, any number of times", "ARM.KEY=VALUE"),
  json: on("print the summary as JSON on stdout, and nothing else there"),
  frozen: on("run only what freeze has locked: its files, seed and replicates, unchanged"),
  strict: on("exit 1 also where a hypothesis is not shown"),
};

export const run: Command = {
  usage: "run <panel>",
  says: "simulate a panel: arms side by side, telemetry, report, verdict",
  flags,
  examples: [
    ["run panels/deepswe-headline.yaml", "the main job: what hour-long waits cost, and what repairs it"],
    ["run panels/cap-by-habit.yaml --detail trials", "a crossed panel; trials only, to save time"],
    ["run panels/sensitivity.yaml", "where the verdict turns, as model and tasks are varied"],
    ["run panels/deepswe-headline.yaml --set budgeted.process_wait_slice_seconds=60", "the same with shorter slices"],
    ["run panels/deepswe-headline.yaml --replicates 5 --json", "a quick look, for a program"],
    ["run panels/long-tail.yaml --frozen", "only if not a byte of it has changed since it was frozen"],
    ["run panels/long-tail.yaml --strict", "a gate in CI: every hypothesis has to be shown"],
  ],
  async does(argv, outside) {
    const { panel, given, frozen } = await read(argv);
    const screen = openScreen({ stream: outside.stderr, environment: outside.environment });
    for (const warning of panel.warnings) screen.line(`${screen.colours.yellow("warning")}  ${warning}`);

    const provenance = provenanceOf(panel, given, frozen, outside);
    const folder = takeFolder(given.out ?? join("out", panel.panel), manifestOf(panel, given, provenance, frozen));
    if (frozen !== null)
      screen.line(`${screen.colours.green("frozen")}  as ${spoken(frozen.path)} has it, of ${frozen.lock.frozen_at}`);
    const ended = await simulated(panel, given, provenance, folder, screen);

    // Vega takes a fifth of a second to load: only those who make a report wait for it.
    const { writeReport } = await import("../report/report.ts");
    screen.line("writing the report");
    const summary = await writeReport(folder.database, folder.report);
    const text = `${JSON.stringify(summary, null, 2)}\n`;
    writeWhole(folder.summary, text);
    writeWhole(folder.junit, junitOf(summary, given.strict));
    if (given.json) outside.stdout.write(text);
    printSummary(
      summary,
      openScreen({ stream: given.json ? outside.stderr : outside.stdout, environment: outside.environment }),
    );
    for (const path of [folder.report, folder.database, folder.summary, folder.junit, folder.manifest])
      screen.line(`  ${path}`);
    return ended === "interrupted" ? EXIT.interrupted : verdictCode(summary, given.strict);
  },
};

/** Panel, flags and folder, or every fault of all three at once. */
async function read(
  argv: Readonly<Record<string, unknown>>,
): Promise<{ panel: Panel; given: Given<typeof flags>; frozen: Verified | null }> {
  const { given, faults } = readFlags(argv, flags, ["panel"]);
  const all = [...faults];
  let panel: Panel | null = null;
  let frozen: Verified | null = null;
  try {
    if (given.frozen) {
      frozen = verified(String(argv["panel"]));
      panel = frozen.panel;
      all.push(...differingFlags(given, frozen.lock));
    } else {
      panel = loadPanel(String(argv["panel"]), {
        ...(given.seed === undefined ? {} : { seed: given.seed }),
        ...(given.replicates === undefined ? {} : { replicates: given.replicates }),
        sets: given.set,
      });
    }
  } catch (error) {
    if (!(error instanceof FileFaults)) throw error;
    all.push(...error.faults);
  }
  const out = given.out ?? (panel === null ? null : join("out", panel.panel));
  const fault = out === null ? null : folderFault(out);
  if (fault !== null) all.push(fault);
  if (all.length > 0 || panel === null) throw new FileFaults(all);
  return { panel, given, frozen };
}

/** Flags that would make another panel of the one that was frozen. */
function differingFlags({ seed, replicates, set }: Given<typeof flags>, lock: Lock): readonly string[] {
  const other = (flag: string, given: number | undefined, locked: number) =>
    given === undefined || given === locked
      ? []
      : [`--${flag} is ${given} beside --frozen: expected ${locked}, as the panel was frozen, or no --frozen`];
  return [
    ...other("seed", seed, lock.seed),
    ...other("replicates", replicates, lock.replicates),
    ...set.map((change) => `--set ${change} changes a frozen panel: leave it out, or --frozen`),
  ];
}

async function simulated(
  panel: Panel,
  given: Given<typeof flags>,
  provenance: Provenance,
  folder: Folder,
  screen: Screen,
): Promise<"done" | "interrupted"> {
  const { experimentId } = provenance;
  const dictionaries = dictionariesOf(panel, experimentId);
  const store = await openStore(folder.database, TABLES, dictionaries);
  const trials = trialsOf(panel) * panel.replicates;
  const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
  const parts = partsOf(panel).length;
  const cases = parts === 0 ? "" : `${counted(parts, panel.cases.length > 0 ? "case" : "cell")}, `;
  screen.line(
    `${panel.panel}: ${trials.toLocaleString("en")} trials, ${cases}${counted(panel.arms.length, "arm")}, ${counted(panel.replicates, "replicate")}, seed ${panel.seed}`,
  );
  const progress = screen.progress("simulating", panel.replicates);
  const interruption = onInterrupt();
  let kept = 0;
  try {
    await store.appendWorlds(openingRows(panel, detailOf(panel, given), provenance, dictionaries));
    const conducted = await conductAndKeep({
      panel,
      detail: detailOf(panel, given),
      experimentId,
      store,
      async onWorld(done, trialsDone) {
        kept = done;
        progress.to(done, `${trialsDone.toLocaleString("en")} trials`);
        await breath();
        return !interruption.asked;
      },
    });
    progress.stop();
    if (conducted.worlds < panel.replicates) {
      screen.line(`interrupted: ${conducted.worlds} of ${panel.replicates} replicates are kept, whole`);
      return "interrupted";
    }
    if (given.detail !== "events" && parts === 0) {
      screen.line("noting moment by moment where arms came out most differently");
      await keepDrilled(panel, store);
    }
    await store.rows(`UPDATE experiments SET finished_at = ${literal(new Date().toISOString())}`);
    return "done";
  } catch (error) {
    progress.stop();
    if (error instanceof StoreError && kept > 0) throw new Incomplete(`${error.message} (whole replicates are kept)`);
    throw error;
  } finally {
    interruption.forget();
    await store.close();
  }
}

/** Of hundreds of thousands of trials nobody wants every call, unless they say so. */
function detailOf({ cells }: Panel, { detail }: Given<typeof flags>): Detail {
  return detail ?? (cells.length > 0 ? "trials" : "calls");
}

/** Lets signals and the progress line have their turn between two worlds. */
const breath = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The first Ctrl-C ends the run after the world at hand; a second one ends it at once, as ever. */
function onInterrupt(): { readonly asked: boolean; forget(): void } {
  const state = { asked: false };
  const note = () => {
    state.asked = true;
    process.removeListener("SIGINT", note);
  };
  process.on("SIGINT", note);
  return {
    get asked() {
      return state.asked;
    },
    forget: () => void process.removeListener("SIGINT", note),
  };
}

/** The digest of everything the results depend on; what an experiment is called derives from it. */
function provenanceOf(
  panel: Panel,
  given: Given<typeof flags>,
  frozen: Verified | null,
  { words }: Outside,
): Provenance {
  const overrides = [...given.set];
  const determined = { inputs: panel.inputs, overrides, seed: panel.seed, engine: engineVersion() };
  const inputDigest = sha256(JSON.stringify({ inputs: panel.inputs, overrides }));
  return {
    experimentId: sha256(JSON.stringify(determined)).slice(0, 16),
    inputDigest,
    overrides: JSON.stringify(overrides),
    lock: frozen === null ? null : JSON.stringify(frozen.lock),
    versions: JSON.stringify(versions()),
    git: JSON.stringify(gitState()),
    host: JSON.stringify(host()),
    command: commandLine(words),
    startedAt: new Date().toISOString(),
  };
}

function manifestOf(panel: Panel, given: Given<typeof flags>, provenance: Provenance, frozen: Verified | null): object {
  return {
    experiment_id: provenance.experimentId,
    panel: panel.panel,
    inputs: panel.inputs,
    input_digest: provenance.inputDigest,
    overrides: given.set,
    seed: panel.seed,
    replicates: panel.replicates,
    detail: detailOf(panel, given),
    versions: versions(),
    command: provenance.command,
    ...(frozen === null ? {} : { frozen: { panel: resolve(panel.file), lock: frozen.lock } }),
    started_at: provenance.startedAt,
  };
}
