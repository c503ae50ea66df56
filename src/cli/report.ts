/** `report`: makes the report again, from what a run wrote. */
import { join } from "node:path";
import { heldAgainst } from "../report/baseline.ts";
import { markdownOf } from "../report/markdown.ts";
import type { Command, Outside } from "./command.ts";
import { Tampered, UsageError } from "./exit.ts";
import { choice, type Given, on, readFlags, refuse, text } from "./flags.ts";
import { type Folder, folderAt, frozenPanel, messageOf, writeWhole } from "./folder.ts";
import { changedSince } from "./frozen.ts";
import { junitOf } from "./junit.ts";
import { openScreen } from "./screen.ts";
import { printBaseline, printSummary, verdictCode } from "./summary.ts";

const flags = {
  out: text("file to write (default: report.html or .md in the folder; side-by-side.html here for several)", "FILE"),
  format: choice(["html", "md"], "the whole page, or a summary in Markdown for a review", { default: "html" }),
  baseline: text("folder of an earlier run: verdicts that turned and figures that moved since", "DIR"),
  redact: on(
    "withhold command lines, the run's own too, and the machine; in what is written here, not in the database",
  ),
  definition: text("folder of a report definition of one's own: queries, specs, words (default: what ships)", "DIR"),
  strict: on("exit 1 also where a hypothesis is not shown"),
};

/**
 * Whether the panel of a run was frozen, and is still at hand as it was.
 *
 * @throws Tampered where a file of it has changed since
 */
function frozenIn(folder: Folder): "not frozen" | "unchanged" | "not here" {
  const found = frozenPanel(folder);
  if (found === null) return "not frozen";
  const changed = changedSince(found.lock, found.panel);
  if (changed === null) return "not here";
  if (changed.length > 0) throw new Tampered(changed);
  return "unchanged";
}

export const report: Command = {
  usage: "report <dirs..>",
  says: "make the report again from what a run wrote; of several runs, one page side by side",
  flags,
  examples: [
    ["report out/deepswe-headline", "writes out/deepswe-headline/report.html anew"],
    ["report out/deepswe-headline --format md", "writes out/deepswe-headline/report.md, to be pasted into a review"],
    ["report out/mine --baseline out/before", "what has changed since an earlier run of the same panel"],
    ["report out/seed-1 out/seed-2 --out both.html", "what several runs say of the same things"],
    ["report out/serve-1 --redact", "without what was typed, to be handed on"],
    ["report out/deepswe-headline --definition my-report", "with charts of your own: the README says how"],
  ],
  async does(argv, { stdout, stderr, environment }) {
    const { given, faults } = readFlags(argv, flags, ["dirs"]);
    const dirs = (argv["dirs"] as readonly unknown[]).map(String);
    refuse(...faults, ...(dirs.length > 1 ? ofOneRun(given) : []));
    if (dirs.length > 1) return severalRuns(dirs, given, { stdout, stderr, environment });
    // Vega takes a fifth of a second to load: only those who make a report wait for it.
    const { summarise, writeReport } = await import("../report/report.ts");
    const folder = folderAt(dirs[0]!);
    const screen = openScreen({ stream: stderr, environment });
    const standing = frozenIn(folder);
    if (standing === "not here") screen.line("frozen, but none of its files is here: not checked again");
    const file = given.out ?? join(folder.path, `report.${given.format}`);
    const options = {
      redact: given.redact,
      ...(given.definition === undefined ? {} : { definition: given.definition }),
    };
    // Before anything is written: what cannot be compared leaves everything as it was.
    const baseline =
      given.baseline === undefined
        ? null
        : heldAgainst(
            await summarise(folder.database, options),
            await summarise(folderAt(given.baseline).database, { redact: given.redact }),
          );
    if (baseline !== null && baseline.panel !== baseline.of_panel) {
      throw new UsageError(
        `--baseline is ${given.baseline}: it holds a run of ${baseline.panel}, and this is one of ${baseline.of_panel}; several folders stand side by side without --baseline`,
      );
    }
    const summary =
      given.format === "html"
        ? await writeReport(folder.database, file, options)
        : await summarise(folder.database, options);
    if (given.format === "md") writeOut(file, markdownOf(summary, baseline));
    if (given.out === undefined) {
      const told = baseline === null ? summary : { ...summary, baseline };
      writeWhole(folder.summary, `${JSON.stringify(told, null, 2)}\n`);
      writeWhole(folder.junit, junitOf(summary, given.strict));
    }
    const answers = openScreen({ stream: stdout, environment });
    printSummary(summary, answers);
    if (baseline !== null) printBaseline(baseline, answers);
    screen.line(`  ${file}`);
    return verdictCode(summary, given.strict);
  },
};

/** Writes where the caller says; where that cannot be, it is the caller's to mend. */
function writeOut(path: string, content: string): void {
  try {
    writeWhole(path, content);
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${messageOf(error)}; name another file with --out`);
  }
}

/** Flags that speak of one run's page and of nothing else. */
function ofOneRun({ format, baseline, definition }: Given<typeof flags>): readonly string[] {
  return [
    ...(format === "md" ? ["--format is md beside several folders: expected html"] : []),
    ...(baseline === undefined ? [] : ["--baseline is given beside several folders: expected one"]),
    ...(definition === undefined ? [] : ["--definition is given beside several folders: expected one"]),
  ];
}

/** One page over several runs. Their own pages and summaries stay as they are. */
async function severalRuns(
  dirs: readonly string[],
  { out = "side-by-side.html", redact, strict }: Given<typeof flags>,
  { stdout, stderr, environment }: Pick<Outside, "stdout" | "stderr" | "environment">,
): Promise<number> {
  const [{ summarise }, { sideBySide }] = await Promise.all([
    import("../report/report.ts"),
    import("../report/sideBySide.ts"),
  ]);
  const runs = [];
  for (const [at, dir] of dirs.entries()) {
    const folder = folderAt(dir);
    frozenIn(folder);
    runs.push({ name: redact ? `run ${at + 1}` : dir, summary: await summarise(folder.database, { redact }) });
  }
  writeOut(out, sideBySide(runs, new Date()));
  const { line, table } = openScreen({ stream: stdout, environment });
  table(
    ["run", "panel", "PASS", "FAIL", "NOT SHOWN"],
    runs.map(({ name, summary }) => [
      name,
      summary.panel,
      ...["PASS", "FAIL", "NOT SHOWN"].map((verdict) =>
        String(summary.hypotheses.filter((judged) => judged.verdict === verdict).length),
      ),
    ]),
    "llrrr",
    2,
  );
  line();
  openScreen({ stream: stderr, environment }).line(`  ${out}`);
  return Math.max(...runs.map(({ summary }) => verdictCode(summary, strict)));
}
