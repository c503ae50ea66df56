/** `import`: trials that somebody has measured, as the arms of an experiment. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { FileFaults } from "../scenario/fault.ts";
import { loadMeasured, type Measured } from "../scenario/load.ts";
import { openStore, readForeign, StoreError } from "../telemetry/store.ts";
import { measuredTrials, TABLES, trials } from "../telemetry/tables.ts";
import type { Command } from "./command.ts";
import { EXIT, UsageError } from "./exit.ts";
import { on, readFlags, text } from "./flags.ts";
import { folderFault, takeFolder, writeWhole } from "./folder.ts";
import { dictionariesOf, type Imported, importedFrom, importedRows, TEMPLATE } from "./imported.ts";
import { junitOf } from "./junit.ts";
import { openScreen } from "./screen.ts";
import { printSummary, verdictCode } from "./summary.ts";
import { commandLine, engineVersion, gitState, host, sha256, versions } from "./versions.ts";

const flags = {
  about: text("a file that begins with measured: question, arms, hypotheses, what was inferred", "FILE"),
  out: text("folder to write into (default: out/<name of the table>)", "DIR"),
  template: on("print the first line of such a table, and stop"),
  json: on("print the summary as JSON on stdout, and nothing else there"),
  strict: on("exit 1 also where a hypothesis is not shown"),
};

export const importTrials: Command = {
  usage: "import [trials]",
  says: "measured trials, a CSV or Parquet file with one row for each, as arms to compare",
  flags,
  examples: [
    ["import trials.csv", "arms side by side, paired where every arm has the same scenarios"],
    [
      "import panels/measured/deepswe-published.csv --about panels/measured/deepswe-published.yaml",
      "with a question and hypotheses",
    ],
    ["import --template", "the columns to begin with"],
  ],
  async does(argv, { stdout, stderr, environment, words }) {
    const { given, faults } = readFlags(argv, flags, ["trials"]);
    if (given.template && faults.length === 0) {
      stdout.write(`${TEMPLATE}\n`);
      return EXIT.done;
    }
    const path = String(argv["trials"] ?? "");
    const name = basename(path).replace(/\.[a-z]+$/i, "");
    const out = given.out ?? join("out", name);
    const missing = "import needs a table of trials: a CSV or Parquet file, or --template to begin with";
    const all = [...faults, ...(argv["trials"] === undefined ? [missing] : [])];
    const about = aboutOf(given.about, all);
    const fault = argv["trials"] === undefined ? null : folderFault(out);
    if (fault !== null) all.push(fault);
    const imported = argv["trials"] === undefined ? null : await readTrials(path, about, all);
    if (all.length > 0 || imported === null) throw new UsageError(...all);

    const screen = openScreen({ stream: stderr, environment });
    const inputs = [
      { path: basename(path), sha256: createHash("sha256").update(readFileSync(path)).digest("hex") },
      ...(about?.inputs ?? []),
    ];
    const at = new Date().toISOString();
    const facts = {
      experimentId: sha256(JSON.stringify({ inputs, engine: engineVersion() })).slice(0, 16),
      name: about?.measured ?? name,
      inputs,
      inputDigest: sha256(JSON.stringify(inputs)),
      versions: JSON.stringify(versions()),
      git: JSON.stringify(gitState()),
      host: JSON.stringify(host()),
      command: commandLine(words),
      at,
    };
    const folder = takeFolder(out, {
      experiment_id: facts.experimentId,
      panel: facts.name,
      source: "measured",
      inputs,
      command: facts.command,
      started_at: at,
    });
    const tables = TABLES.map((table) => (table === trials ? measuredTrials : table));
    const store = await openStore(folder.database, tables, dictionariesOf(imported, facts.experimentId));
    try {
      await store.appendWorlds(importedRows(imported, about, facts));
    } finally {
      await store.close();
    }
    screen.line(
      `${imported.trials.length.toLocaleString("en")} measured trials of ${imported.arms.length} arms, ${imported.paired ? "paired by scenario" : "not paired"}`,
    );
    // Vega takes a fifth of a second to load: only those who make a report wait for it.
    const { writeReport } = await import("../report/report.ts");
    const summary = await writeReport(folder.database, folder.report);
    const summaryText = `${JSON.stringify(summary, null, 2)}\n`;
    writeWhole(folder.summary, summaryText);
    writeWhole(folder.junit, junitOf(summary, given.strict));
    if (given.json) stdout.write(summaryText);
    printSummary(summary, openScreen({ stream: given.json ? stderr : stdout, environment }));
    for (const written of [folder.report, folder.database, folder.summary, folder.junit, folder.manifest])
      screen.line(`  ${written}`);
    return verdictCode(summary, given.strict);
  },
};

function aboutOf(reference: string | undefined, faults: string[]): Measured | null {
  if (reference === undefined) return null;
  try {
    return loadMeasured(reference);
  } catch (error) {
    if (!(error instanceof FileFaults)) throw error;
    faults.push(...error.faults);
    return null;
  }
}

async function readTrials(path: string, about: Measured | null, faults: string[]): Promise<Imported | null> {
  try {
    const read = importedFrom(await readForeign(path), path, about);
    if ("imported" in read) return read.imported;
    faults.push(...read.faults);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    faults.push(error.message);
  }
  return null;
}
