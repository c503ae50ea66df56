/** A served session whose time a test turns by hand: client, server, scripted processes and clock in one process. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import { createClock } from "@sinonjs/fake-timers";
import { runBudget } from "../../src/policy/budget.ts";
import { settingsOf, type WrittenSettings } from "../../src/policy/settings.ts";
import { type Instant, moment, seconds } from "../../src/policy/time.ts";
import { shellServer } from "../../src/serve/server.ts";
import { type LostProcess, Session } from "../../src/serve/session.ts";
import type { Clock } from "../../src/world/live.ts";
import type { ScriptedCommand } from "../../src/world/script.ts";
import { scriptedPort } from "../../src/world/scriptedPort.ts";
import { command, hangs } from "../aRun.ts";

export interface ServedSpec {
  readonly settings?: WrittenSettings;
  /** Seconds; left out: not told. */
  readonly told?: number;
  /** Seconds. */
  readonly reserve?: number;
  /** Seconds; left out: no limit but the settings' own. */
  readonly quietHold?: number;
  /** What command lines do; any other hangs. */
  readonly commands?: Readonly<Record<string, ScriptedCommand>>;
  readonly lost?: readonly LostProcess[];
}

export interface Called {
  readonly isError: boolean;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: results are compared whole.
  readonly result: any;
}

export interface Served {
  readonly client: Client;
  readonly session: Session;
  readonly faults: unknown[];
  /** Lets time go by until a moment, in seconds since the session's start. */
  to(second: number): Promise<void>;
  /** Makes a call now; it is answered as time goes by. */
  call(tool: string, given: Record<string, unknown>, options?: RequestOptions): Promise<Called>;
  /** Makes a call, and lets time go by until it is answered. */
  done(tool: string, given: Record<string, unknown>, options?: RequestOptions): Promise<Called>;
}

export async function served(spec: ServedSpec = {}): Promise<Served> {
  const { clock, to, breath } = steppedClock();
  const settings = settingsOf(spec.settings ?? {});
  const budget =
    spec.told === undefined
      ? null
      : runBudget(
          {
            runBudget: seconds(spec.told),
            ...(spec.reserve === undefined ? {} : { finalizationReserve: seconds(spec.reserve) }),
          },
          settings,
        );
  const session = new Session({
    clock,
    port: scriptedPort(clock),
    settings,
    budget,
    commandOf: (line) => ({ ...(spec.commands?.[line] ?? command(hangs())), line, kind: null }),
    ...(spec.lost === undefined ? {} : { lost: spec.lost }),
  });
  const faults: unknown[] = [];
  const quietHold = spec.quietHold === undefined ? null : seconds(spec.quietHold);
  const server = shellServer(session, { version: "0", quietHold, onFault: (error) => void faults.push(error) });
  const client = new Client({ name: "test", version: "0" });
  const [here, there] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(there), client.connect(here)]);
  // From now on the client checks every result against the schema it was told.
  await client.listTools();
  const call: Served["call"] = async (tool, given, options) => {
    const answer = await client.callTool({ name: tool, arguments: given }, undefined, options);
    const [first] = answer.content as readonly { readonly text: string }[];
    return { isError: answer.isError === true, text: first?.text ?? "", result: answer.structuredContent };
  };
  return {
    client,
    session,
    faults,
    to,
    call,
    async done(tool, given, options) {
      let over = false;
      const called = call(tool, given, options).finally(() => {
        over = true;
      });
      await breath();
      while (!over) await to((clock.now() + 250) / 1_000);
      return called;
    },
  };
}

/** A clock that lets promises have their turn at each instant, so that a client can act in the middle of a hold. */
function steppedClock() {
  const fake = createClock(0, Number.MAX_SAFE_INTEGER);
  let ready: (() => void)[] = [];
  const breath = async () => {
    for (let turn = 0; turn < 3; turn += 1) await new Promise<void>((go) => setImmediate(go));
  };
  const settle = async () => {
    for (;;) {
      await breath();
      fake.tick(0);
      if (ready.length === 0) return;
      const woken = ready;
      ready = [];
      for (const go of woken) go();
    }
  };
  const clock: Clock = {
    now: () => moment(fake.now),
    at(due: Instant, wake) {
      if (due <= fake.now) {
        ready.push(wake);
        return () => {};
      }
      const timer = fake.setTimeout(wake, due - fake.now);
      return () => fake.clearTimeout(timer);
    },
    soon: (go) => void ready.push(go),
  };
  return {
    clock,
    breath,
    async to(second: number) {
      let isThere = false;
      fake.setTimeout(
        () => {
          isThere = true;
        },
        Math.round(second * 1_000) - fake.now,
      );
      await settle();
      while (!isThere) {
        fake.next();
        await settle();
      }
    },
  };
}
