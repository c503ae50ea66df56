/**
 * A session from its first call to its last: the folder, the shell, the protocol, and how it ends.
 *
 * It ends with its input, as clients end it, or by a signal. Then nothing is held any more, everything the session has
 * started is ended, and what happened is written as a whole. People's words go to stderr: stdout belongs to the protocol.
 */
import { resolve } from "node:path";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { type RunBudget, runBudget } from "../policy/budget.ts";
import { type Instant, inSeconds, seconds, shorter } from "../policy/time.ts";
import { lostProcess } from "../serve/lost.ts";
import { shellServer } from "../serve/server.ts";
import { Session } from "../serve/session.ts";
import { type SessionFacts, sessionRows } from "../serve/written.ts";
import { openStore, StoreError } from "../telemetry/store.ts";
import { TABLES } from "../telemetry/tables.ts";
import { childrenPort, shellCommand } from "../world/children.ts";
import { realClock } from "../world/clock.ts";
import { FolderInUse, type Reclaimed, reclaim } from "../world/leftBehind.ts";
import type { Outside } from "./command.ts";
import { EXIT, Incomplete, UsageError } from "./exit.ts";
import { type Folder, messageOf, takeFolder } from "./folder.ts";
import { openScreen, type Screen } from "./screen.ts";
import type { Terms } from "./serveTerms.ts";
import { commandLine, engineVersion, gitState, host, sha256, versions } from "./versions.ts";

export async function served(terms: Terms, outside: Outside): Promise<number> {
  const clock = realClock();
  const began = new Date();
  const { settings, told, session: name } = terms;
  const budget = told === null ? null : runBudget(told, settings, began.getTime());
  const screen = openScreen({ stream: outside.stderr, environment: outside.environment });
  warnOfGreed(budget, screen);

  const reclaimed = await unlessInUse(() => reclaim(resolve(terms.out), { grace: settings.killGrace }));
  const facts = factsOf(terms, budget, began, outside);
  const folder = takeFolder(terms.out, manifestOf(facts));
  const place = { folder: folder.path, session: name, environment: outside.environment, cwd: process.cwd() };
  const port = await unlessInUse(() => childrenPort({ clock, ...place }));
  const session = new Session({
    clock,
    port,
    settings,
    budget,
    commandOf: (line, cwd) => shellCommand(line, cwd === null ? null : resolve(cwd)),
    lost: reclaimed.lost.map((lost) => lostProcess(lost, shellCommand)),
  });

  const server = shellServer(session, {
    version: engineVersion(),
    quietHold: terms.quietHold,
    onFault: (error) => screen.line(`${screen.colours.yellow("fault")}  ${messageOf(error)}`),
  });
  const ending = theEnd(outside);
  server.onclose = ending.comes;
  await server.connect(new StdioServerTransport(process.stdin, outside.stdout));
  greet(terms, budget, reclaimed, screen);
  const why = await ending.why;
  if (why === END_OF_INPUT) await Promise.race([session.leave(), ending.isMadeTo]);

  const endedAt = session.end();
  const { name: client = "a client", version = "" } = server.getClientVersion() ?? {};
  const all = { ...facts, client: `${client} ${version}`.trim(), finishedAt: new Date().toISOString() };
  const [unended] = await Promise.all([
    port.endAll(shorter(settings.killGrace, PATIENCE), session.kept()),
    keep(folder, session, endedAt, all),
  ]);
  await server.close();
  process.stdin.unref?.();
  if (unended.length > 0) screen.line(`could not be ended, not even by SIGKILL: ${unended.join(", ")}`);
  for (const path of [folder.database, folder.manifest]) screen.line(`  ${path}`);
  return why === "SIGINT" ? EXIT.interrupted : EXIT.done;
}

/** A client that has closed its end waits a few seconds before it kills. */
const PATIENCE = seconds(2);

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const END_OF_INPUT = "end of input";

interface Ending {
  readonly why: Promise<string>;
  /** Comes with the first signal, whatever came before. */
  readonly isMadeTo: Promise<void>;
  readonly comes: () => void;
}

/** Comes with the end of the input, or with a signal. Further signals change nothing: ending takes its time, which is short. */
function theEnd({ stdout }: Outside): Ending {
  let comes = (_why: string): void => {};
  let makes = (): void => {};
  const why = new Promise<string>((resolve) => {
    comes = resolve;
  });
  const isMadeTo = new Promise<void>((resolve) => {
    makes = resolve;
  });
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      comes(signal);
      makes();
    });
  }
  const input = () => comes(END_OF_INPUT);
  process.stdin.once("end", input).once("close", input).once("error", input);
  // Nobody reads any more. What ends a listing is no reason here to leave everything as it is.
  stdout.removeAllListeners("error").on("error", input);
  return { why, isMadeTo, comes: input };
}

/** A folder that another session has is the user's to mend. */
async function unlessInUse<Taken>(take: () => Taken | Promise<Taken>): Promise<Taken> {
  try {
    return await take();
  } catch (error) {
    if (error instanceof FolderInUse) throw new UsageError(`${error.message}; name another folder with --out`);
    throw error;
  }
}

async function keep(folder: Folder, { events }: Session, endedAt: Instant, facts: SessionFacts): Promise<void> {
  const { batches, dictionaries } = sessionRows(events, endedAt, facts);
  try {
    const store = await openStore(folder.database, TABLES, dictionaries);
    try {
      await store.appendWorlds(batches);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof StoreError) throw new Incomplete(`${error.message} (the session itself is over)`);
    throw error;
  }
}

function factsOf(terms: Terms, budget: RunBudget | null, began: Date, { words }: Outside): SessionFacts {
  const { policy, settings, session, overrides, quietHold } = terms;
  const said = quietHold === null ? [] : [`max_hold_seconds=${inSeconds(quietHold)} where no progress is asked for`];
  return {
    session,
    policy,
    settings,
    budget,
    client: "",
    inputs: policy.inputs,
    inputDigest: sha256(JSON.stringify({ inputs: policy.inputs, overrides, budget })),
    overrides: [...overrides, ...said],
    versions: JSON.stringify(versions()),
    git: JSON.stringify(gitState()),
    host: JSON.stringify(host()),
    command: commandLine(words),
    startedAt: began.toISOString(),
    finishedAt: "",
  };
}

function manifestOf(facts: SessionFacts): object {
  const { session, policy, inputs, inputDigest, overrides, budget, command, startedAt } = facts;
  return {
    experiment_id: session,
    source: "measured",
    policy: policy.policy,
    inputs,
    input_digest: inputDigest,
    overrides,
    run_budget_seconds: budget === null ? null : inSeconds(budget.length),
    finalization_reserve_seconds: budget === null ? null : inSeconds(budget.reserve),
    versions: versions(),
    command,
    started_at: startedAt,
  };
}

function greet({ policy, out }: Terms, budget: RunBudget | null, { lost, ended }: Reclaimed, screen: Screen): void {
  const run =
    budget === null
      ? "told of no end of the run"
      : `told of a run of ${inSeconds(budget.length)} s, ${inSeconds(budget.reserve)} s of them kept for finishing`;
  screen.line(
    `serving exec and process over MCP on stdin and stdout: policy ${policy.policy}, ${run}; telemetry in ${out}`,
  );
  if (lost.length > 0 || ended.length > 0) {
    screen.line(
      `a runtime was killed here before: ${lost.length} of its processes are lost, ${ended.length} that still ran were ended`,
    );
  }
}

/** A reserve of half the run or more leaves little to be decided. */
function warnOfGreed(budget: RunBudget | null, { line, colours }: Screen): void {
  if (budget === null || budget.length === 0 || budget.reserve * 2 < budget.length) return;
  line(
    `${colours.yellow("warning")}  a reserve of ${inSeconds(budget.reserve)} s is half of the run of ${inSeconds(budget.length)} s or more: little is left to be held`,
  );
}
