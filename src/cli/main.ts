#!/usr/bin/env node
/** The command line: words to calls. Each command says what it takes and does the rest in a file of its own. */
import yargs, { type Argv } from "yargs";
import { hideBin } from "yargs/helpers";
import { nearest } from "../scenario/fault.ts";
import type { Command } from "./command.ts";
import { EXIT, UsageError } from "./exit.ts";
import { explain } from "./explain.ts";
import { exitCodeOf, printFailure } from "./failure.ts";
import { yargsOptions } from "./flags.ts";
import { freeze } from "./freeze.ts";
import { importTrials } from "./import.ts";
import { init } from "./init.ts";
import { lint } from "./lint.ts";
import { plan } from "./plan.ts";
import { policies } from "./policies.ts";
import { replay } from "./replay.ts";
import { report } from "./report.ts";
import { run } from "./run.ts";
import { serve } from "./serve.ts";
import { engineVersion } from "./versions.ts";

const commands: readonly Command[] = [
  ...[run, report, replay, explain, policies, lint],
  ...[init, freeze, plan, importTrials, serve],
];

// Whoever reads our output may stop reading (`| head`): that is no failure of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(EXIT.done);
  throw error;
});

await main(hideBin(process.argv));

async function main(words: readonly string[]): Promise<void> {
  const outside = { stdout: process.stdout, stderr: process.stderr, environment: process.env, words };
  try {
    let chosen: (() => Promise<number>) | null = null;
    const parser = program(words, (command, argv) => {
      chosen = () => command.does(argv, outside);
    });
    await parser.parseAsync();
    process.exitCode = chosen === null ? EXIT.done : await (chosen as () => Promise<number>)();
  } catch (error) {
    printFailure(error, outside);
    process.exitCode = exitCodeOf(error);
  }
}

function program(
  words: readonly string[],
  choose: (command: Command, argv: Readonly<Record<string, unknown>>) => void,
): Argv {
  const completing = words.includes("--get-yargs-completions");
  let parser = yargs([...words])
    .scriptName("yieldpoint")
    .usage("$0 <command>\n\nA wind tunnel for agent runtimes: how long may a shell command hold the model?")
    .parserConfiguration({
      "boolean-negation": false,
      "camel-case-expansion": false,
      "duplicate-arguments-array": true,
      "parse-numbers": false,
      "parse-positional-numbers": false,
      "dot-notation": false,
    })
    .exitProcess(false)
    .version(engineVersion())
    .help()
    .alias("help", "h")
    .wrap(Math.min(100, process.stdout.columns ?? 100))
    .completion("completion", "print a script that completes commands, flags and names in your shell")
    .fail((message, error) => {
      throw error ?? new UsageError(inOurVoice(message, words));
    });
  for (const command of commands) {
    parser = parser.command(
      command.usage,
      command.says,
      (builder) => {
        let told = builder.options(yargsOptions(command.flags, completing));
        for (const [example, says] of command.examples) told = told.example(`$0 ${example}`, says);
        return told;
      },
      (argv) => choose(command, argv),
    );
  }
  return parser.command("$0", false, {}, (argv) => {
    const [word] = argv._;
    if (word === "completion") return;
    if (word === undefined) {
      parser.showHelp("log");
      return;
    }
    const near = nearest(String(word), [...commands.map(({ usage }) => usage.split(" ")[0]!), "completion"]);
    throw new UsageError(
      `${word} is not a command${near === null ? "" : `; did you mean ${near}?`} (yieldpoint --help names them)`,
    );
  });
}

/** What yargs says of a command line, said as everything else is. */
function inOurVoice(message: string, words: readonly string[]): string {
  const command = commands.find(({ usage }) => usage.split(" ")[0] === words[0]);
  if (command !== undefined && message.startsWith("Not enough non-option arguments")) {
    const missing = command.usage.split(" ").slice(1).join(" ");
    return `${words[0]} needs ${missing}: yieldpoint ${command.usage}`;
  }
  return message;
}
