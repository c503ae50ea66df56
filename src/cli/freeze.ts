/** `freeze`: writes down what a panel is made of before it is run, or looks whether it still is that. */
import { spoken } from "../scenario/names.ts";
import type { Command } from "./command.ts";
import { EXIT } from "./exit.ts";
import { on, readFlags, refuse } from "./flags.ts";
import { freeze as frozen, verified } from "./frozen.ts";
import { openScreen } from "./screen.ts";

const flags = { check: on("write nothing; say whether the panel is still what its lock says") };

export const freeze: Command = {
  usage: "freeze <panel>",
  says: "lock a panel before it is run: every file by its digest, seed, hypotheses, analysis",
  flags,
  examples: [
    ["freeze panels/long-tail.yaml", "writes panels/long-tail.lock.json, to be kept with the panel"],
    ["freeze panels/long-tail.yaml --check", "exit 3 if a byte has changed since, and the file named"],
    ["run panels/long-tail.yaml --frozen", "the same check, and then the run"],
  ],
  async does(argv, { stdout, environment }) {
    const { given, faults } = readFlags(argv, flags, ["panel"]);
    refuse(...faults);
    const reference = String(argv["panel"]);
    const { line, colours } = openScreen({ stream: stdout, environment });
    const { lock, path } = given.check ? verified(reference) : frozen(reference, new Date());
    const what = `${lock.files.length} files, seed ${lock.seed}, ${lock.replicates} replicates, ${lock.hypotheses.length} hypotheses`;
    if (given.check)
      line(`${colours.green("✓ PASS")}  ${lock.panel} is as it was frozen on ${lock.frozen_at}: ${what}`);
    else line(`${lock.panel} is frozen: ${what}`);
    line(`  ${spoken(path)}`);
    return EXIT.done;
  },
};
