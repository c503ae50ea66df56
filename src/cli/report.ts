/** `report`: makes the report again, from what a run wrote. */
import { join } from "node:path";
import type { Command } from "./command.ts";
import { on, readFlags, refuse, text } from "./flags.ts";
import { folderAt, writeWhole } from "./folder.ts";
import { junitOf } from "./junit.ts";
import { openScreen } from "./screen.ts";
import { printSummary, verdictCode } from "./summary.ts";

const flags = {
  out: text("file to write (default: report.html in the folder)", "FILE"),
  strict: on("exit 1 also where a hypothesis is not shown"),
};

export const report: Command = {
  usage: "report <dir>",
  says: "make the report again from what a run wrote",
  flags,
  examples: [["report out/deepswe-headline", "writes out/deepswe-headline/report.html anew"]],
  async does(argv, { stdout, stderr, environment }) {
    const { given, faults } = readFlags(argv, flags, ["dir"]);
    refuse(...faults);
    // Vega takes a fifth of a second to load: only those who make a report wait for it.
    const { writeReport } = await import("../report/report.ts");
    const folder = folderAt(String(argv["dir"]));
    const file = given.out ?? join(folder.path, "report.html");
    const summary = await writeReport(folder.database, file);
    if (given.out === undefined) {
      writeWhole(folder.summary, `${JSON.stringify(summary, null, 2)}\n`);
      writeWhole(folder.junit, junitOf(summary, given.strict));
    }
    printSummary(summary, openScreen({ stream: stdout, environment }));
    openScreen({ stream: stderr, environment }).line(`  ${file}`);
    return verdictCode(summary, given.strict);
  },
};
