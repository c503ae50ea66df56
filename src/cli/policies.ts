/** `policies`: those that ship, one line each; one of them in full. */
import { stringify } from "yaml";
import { settingKeys, settingsTable, writtenDefaults } from "../policy/settings.ts";
import { FileFaults } from "../scenario/fault.ts";
import { loadPolicy, type Policy, shippedPolicies } from "../scenario/load.ts";
import type { Command } from "./command.ts";
import { EXIT, UsageError } from "./exit.ts";
import { on, readFlags, refuse, text } from "./flags.ts";
import { openScreen } from "./screen.ts";

const flags = {
  diff: text("the settings in which two policies differ: this one, and the one named after it", "A B"),
  json: on("print as JSON"),
};

export const policies: Command = {
  usage: "policies [name]",
  says: "the policies that ship; with a name, one of them in full",
  flags,
  examples: [
    ["policies", "one line each"],
    ["policies budgeted", "every setting of it, and what it means"],
    ["policies --diff treatment budgeted", "the settings in which the two differ"],
  ],
  async does(argv, { stdout, environment }) {
    const { given, faults } = readFlags(argv, flags, ["name"]);
    refuse(...faults);
    const name = argv["name"];
    if (given.diff !== undefined) {
      if (name === undefined) throw new UsageError(`--diff is given ${given.diff} alone: name another policy after it`);
      const [one, other] = bothOf(given.diff, String(name));
      const found = differences(one, other);
      if (given.json) {
        const differing = found.map(([setting, here, there]) => ({ setting, values: [here, there] }));
        stdout.write(`${JSON.stringify({ policies: [one.policy, other.policy], differences: differing })}\n`);
      } else {
        const { line, table } = openScreen({ stream: stdout, environment });
        if (found.length === 0) line(`${one.policy} and ${other.policy} differ in no setting`);
        else
          table(
            ["setting", one.policy, other.policy],
            found.map((row) => row.map(String)),
            "lll",
          );
      }
      return EXIT.done;
    }
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

/** Both policies, or all that is wrong with either name. */
function bothOf(...names: readonly [string, string]): readonly [Policy, Policy] {
  const faults: string[] = [];
  const found = names.flatMap((name) => {
    try {
      return [loadPolicy(name)];
    } catch (error) {
      if (!(error instanceof FileFaults)) throw error;
      faults.push(...error.faults);
      return [];
    }
  });
  const [one, other] = found;
  if (one === undefined || other === undefined) throw new FileFaults([...new Set(faults)]);
  return [one, other];
}

type Difference = readonly [setting: string, one: unknown, other: unknown];

/** What the resolved policies differ in, in the order of the settings; the budget they are told counts as one. */
function differences(one: Policy, other: Policy): readonly Difference[] {
  const settings = settingKeys
    .filter((key) => one.written[key] !== other.written[key])
    .map((key): Difference => [key, one.written[key], other.written[key]]);
  const [here, there] = [one, other].map(({ budget }) => (budget === null ? "none" : JSON.stringify(budget)));
  return here === there ? settings : [...settings, ["budget", here, there]];
}

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
