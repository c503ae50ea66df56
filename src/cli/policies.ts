/** `policies`: those that ship, one line each; one of them in full. */
import { stringify } from "yaml";
import { settingKeys, settingsTable, writtenDefaults } from "../policy/settings.ts";
import { loadPolicy, shippedPolicies } from "../scenario/load.ts";
import type { Command } from "./command.ts";
import { EXIT } from "./exit.ts";
import { on, readFlags, refuse } from "./flags.ts";
import { openScreen } from "./screen.ts";

const flags = { json: on("print as JSON") };

export const policies: Command = {
  usage: "policies [name]",
  says: "the policies that ship; with a name, one of them in full",
  flags,
  examples: [
    ["policies", "one line each"],
    ["policies budgeted", "every setting of it, and what it means"],
  ],
  async does(argv, { stdout, environment }) {
    const { given, faults } = readFlags(argv, flags, ["name"]);
    refuse(...faults);
    const name = argv["name"];
    if (name === undefined) {
      const all = shippedPolicies();
      if (given.json)
        stdout.write(`${JSON.stringify(all.map(({ policy, says, source }) => ({ policy, says, source })))}\n`);
      else {
        const { table } = openScreen({ stream: stdout, environment });
        table(
          ["policy", "what it does"],
          all.map(({ policy, says }) => [policy, says]),
          "ll",
        );
      }
      return EXIT.done;
    }
    const policy = loadPolicy(String(name));
    if (given.json)
      stdout.write(
        `${JSON.stringify({ policy: policy.policy, says: policy.says, source: policy.source, settings: policy.written })}\n`,
      );
    else stdout.write(inFull(policy));
    return EXIT.done;
  },
};

/** A policy file that says everything, with what each key means; `*` marks what differs from the defaults. */
function inFull({ policy, says, source, written, budget }: Awaited<ReturnType<typeof loadPolicy>>): string {
  const head = stringify({
    policy,
    says,
    ...(source === null ? {} : { source }),
    ...(budget === null ? {} : { budget }),
  });
  const lines = settingKeys.map((key) => {
    const value = `  ${key}: ${String(written[key])}`;
    const mark = written[key] === writtenDefaults[key] ? " " : "*";
    return `${value.padEnd(60)} # ${mark} ${settingsTable[key].says}`;
  });
  return `${head}shell_execution:\n${lines.join("\n")}\n`;
}
