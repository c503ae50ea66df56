/**
 * The session as a server of the Model Context Protocol: two tools, their results as structure and as text.
 *
 * A request is one run of its own. It ends with its result, or with the client giving up on it, which ends the hold and
 * never the process. What a client sends that cannot be carried out is answered in the result, where a model can read it.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  type CallToolRequest,
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type ServerNotification,
  type ServerRequest,
} from "@modelcontextprotocol/sdk/types.js";
import type { Agent } from "../agent/effects.ts";
import type { NoticeOnResult } from "../agent/messages.ts";
import type {
  ConditionResult,
  ExecResult,
  ListResult,
  ProcessResult,
  Returned,
  Shell,
  WaitResult,
} from "../agent/shell.ts";
import { after, between, type Duration, type Instant, inSeconds, seconds } from "../policy/time.ts";
import type { LiveRun } from "../world/live.ts";
import { answerText } from "./answer.ts";
import { conditionAsked, execAsked, type ProcessAsked, processAsked } from "./asked.ts";
import type { Answered, Session } from "./session.ts";
import { toolsUnder } from "./tools.ts";

export interface ServerOptions {
  readonly version: string;
  /** Longest hold of a request that asks for no progress; null: the settings' own bound is all there is. */
  readonly quietHold: Duration | null;
  /** Told what goes wrong on our side, or on the wire. The session goes on. */
  readonly onFault: (error: unknown) => void;
}

/** How often a held request is told that it is still held. */
const PROGRESS = seconds(10);

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;
type AnyResult = ExecResult | ProcessResult | WaitResult | ConditionResult | ListResult;

/** A server that is yet to be connected. */
export function shellServer(session: Session, options: ServerOptions): Server {
  const { settings, budget } = session;
  const tools = toolsUnder({ settings, budget, quietHold: options.quietHold });
  const server = new Server(
    { name: "yieldpoint", version: options.version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.onerror = options.onFault;
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...tools] }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => answered(session, options, params, extra));
  return server;
}

const INSTRUCTIONS =
  "Shell commands that give control back while they run. A command that comes back as running is alive: use process to wait " +
  "for it, look at it or stop it, and never start it again.";

async function answered(
  session: Session,
  { quietHold, onFault }: ServerOptions,
  params: CallToolRequest["params"],
  extra: Extra,
): Promise<CallToolResult> {
  if (session.isOver) return refused("the session has ended");
  try {
    const hasProgress = extra._meta?.progressToken !== undefined;
    const maxHold = hasProgress || quietHold === null ? undefined : quietHold;
    const run = begun(session, params, maxHold, () => extra.signal.aborted);
    if ("refused" in run) return refused(run.refused);
    const returned = await heldWith(session, run, extra, onFault);
    return "refused" in returned ? refused(returned.refused) : carried(returned.result, returned.notices);
  } catch (error) {
    onFault(error);
    return refused(`internal error: ${error instanceof Error ? error.message : String(error)}; the session goes on`);
  }
}

type Run = LiveRun<Answered<AnyResult>>;

/** The run of a call, which has begun; or why there is none. */
function begun(
  session: Session,
  { name, arguments: given = {} }: CallToolRequest["params"],
  maxHold: Duration | undefined,
  isGone: () => boolean,
): Run | { readonly refused: string } {
  const limit = maxHold === undefined ? {} : { maxHold };
  if (name === "exec") {
    const read = execAsked(given);
    if ("faults" in read) return session.turnDown(session.commandOf(read.as, null), read.faults.join("\n"));
    const { command: line, cwd, ...asked } = read.asked;
    const command = session.commandOf(line, cwd);
    return session.call<AnyResult>((shell, now) => shell.exec({ ...asked, ...limit, command }, now), isGone);
  }
  if (name === "process") {
    const read = processAsked(given);
    if ("faults" in read) return session.turnDown(read.as, read.faults.join("\n"));
    return session.call((shell, now) => processAgent(shell, read.asked, now, maxHold), isGone);
  }
  if (name === "wait_for_condition" && session.settings.conditionWaitMax > 0) {
    const read = conditionAsked(given);
    if ("faults" in read) return session.turnDown(read.as, read.faults.join("\n"));
    const { command: line, cwd, ...asked } = read.asked;
    const command = session.commandOf(line, cwd);
    return session.call<AnyResult>((shell, now) => shell.waitForCondition({ command }, asked, now, maxHold), isGone);
  }
  return session.turnDown(null, `there is no tool ${name}: expected exec or process`);
}

function processAgent(
  shell: Shell,
  { action, process, wait, offset, limit }: ProcessAsked,
  now: Instant,
  maxHold: Duration | undefined,
): Agent<Returned<AnyResult>> {
  if (action === "list") return shell.list(now);
  const id = process!;
  switch (action) {
    case "wait":
      return shell.wait(id, wait, now, maxHold);
    case "status":
      return shell.status(id, now);
    case "stop":
      return shell.stop(id, now);
    case "read_output":
      return shell.readOutput(id, offset, limit, now);
  }
}

/** Waits for a run: gives it up where the client does, and tells the client now and then that it is still held. */
async function heldWith(
  { clock }: Session,
  run: Run,
  { signal, _meta, sendNotification }: Extra,
  onFault: (error: unknown) => void,
): Promise<Answered<AnyResult>> {
  const giveUp = () => run.cancel();
  if (signal.aborted) giveUp();
  signal.addEventListener("abort", giveUp, { once: true });
  const progressToken = _meta?.progressToken;
  const began = clock.now();
  let forget = () => {};
  const tellLater = (at: Instant) => {
    forget = clock.at(at, () => {
      const progress = inSeconds(between(began, clock.now()));
      const message = `held for ${Math.floor(progress)} s; the command goes on`;
      sendNotification({
        method: "notifications/progress",
        params: { progressToken: progressToken!, progress, message },
      }).catch(onFault);
      tellLater(after(at, PROGRESS));
    });
  };
  if (progressToken !== undefined) tellLater(after(began, PROGRESS));
  try {
    return await run.done;
  } finally {
    forget();
    signal.removeEventListener("abort", giveUp);
  }
}

function carried(result: AnyResult, notices: readonly NoticeOnResult[] | undefined): CallToolResult {
  const beside = notices === undefined ? {} : { notices };
  const text = answerText(result, notices);
  return { content: [{ type: "text", text }], structuredContent: { ...result, ...beside } };
}

function refused(why: string): CallToolResult {
  return { content: [{ type: "text", text: why }], isError: true };
}
