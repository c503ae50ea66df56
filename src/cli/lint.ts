/** `lint`: checks files, all faults at once. */
import { lintFile } from "../scenario/lint.ts";
import type { Command } from "./command.ts";
import { EXIT, UsageError } from "./exit.ts";
import { on, readFlags, refuse } from "./flags.ts";
import { openScreen } from "./screen.ts";

const flags = { json: on("print faults and warnings as JSON") };

export const lint: Command = {
  usage: "lint <files..>",
  says: "check scenario, population, profile, policy and panel files, and say what they leave open",
  flags,
  examples: [["lint panels/*.yaml scenarios/*.yaml", "everything wrong with them, at once"]],
  async does(argv, { stdout, stderr, environment }) {
    const { given, faults } = readFlags(argv, flags, ["files"]);
    refuse(...faults);
    const files = (argv["files"] as readonly unknown[]).map(String);
    const checked = await Promise.all(files.map(async (file) => ({ file, ...(await lintFile(file)) })));
    const wrong = checked.flatMap((one) => one.faults);
    if (given.json) {
      stdout.write(`${JSON.stringify(checked)}\n`);
      return wrong.length > 0 ? EXIT.usage : EXIT.done;
    }
    const { line, colours } = openScreen({ stream: stderr, environment });
    for (const one of checked) {
      for (const warning of one.warnings) line(`${colours.yellow("warning")}  ${warning}`);
      if (one.faults.length === 0) line(`${colours.green("fine")}  ${one.file}`);
    }
    if (wrong.length > 0) throw new UsageError(...wrong);
    return EXIT.done;
  },
};
