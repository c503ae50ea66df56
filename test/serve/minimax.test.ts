/** A policy with messages, served: over the protocol's own client it does what it does simulated, and tells it with results. */
import { describe, expect, test } from "vitest";
import { loadPolicy } from "../../src/scenario/load.ts";
import { commandOf, type Hands, hangs, inSession, lasts, lines, result } from "../aRun.ts";
import { type Served, served } from "./inMemory.ts";

const settings = loadPolicy("minimax").written;

const commands = {
  "npm run build": commandOf({ line: "npm run build", phases: [lasts(90, lines([1, "building\n"], [89, "built\n"]))] }),
  "npm run dev": commandOf({ line: "npm run dev", phases: [hangs(lines([2, "ready\n"]))] }),
};
type Line = keyof typeof commands;

/** The same calls, whoever makes them. */
interface Caller {
  exec(line: Line, background: boolean): Promise<unknown> | unknown;
  wait(process: number, length: number): Promise<unknown> | unknown;
  status(process: number): Promise<unknown> | unknown;
}

const calls = [
  (caller: Caller) => caller.exec("npm run dev", true),
  (caller: Caller) => caller.exec("npm run build", false),
  (caller: Caller) => caller.status(2),
  (caller: Caller) => caller.status(2),
  (caller: Caller) => caller.wait(2, 600),
  (caller: Caller) => caller.status(1),
  (caller: Caller) => caller.status(2),
] as const;

function* simulated(hands: Hands) {
  const results: unknown[] = [];
  const say = (value: unknown) => void results.push(JSON.parse(JSON.stringify(value)));
  say(result(yield* hands.exec(commands["npm run dev"], { background: true })));
  say(result(yield* hands.exec(commands["npm run build"])));
  say(result(yield* hands.status(2)));
  say(result(yield* hands.status(2)));
  say(result(yield* hands.wait(2, 600)));
  say(result(yield* hands.status(1)));
  say(result(yield* hands.status(2)));
  return results;
}

const over = ({ done }: Served): Caller => ({
  exec: async (command, background) => (await done("exec", { command, background })).result,
  wait: async (n, wait_sec) => (await done("process", { action: "wait", process_id: `process-${n}`, wait_sec })).result,
  status: async (n) => (await done("process", { action: "status", process_id: `process-${n}` })).result,
});

describe("serve --policy minimax", () => {
  test("answers every call as the simulated shell does, to the field", async () => {
    const caller = over(await served({ settings, commands }));
    const answers: unknown[] = [];
    for (const call of calls) answers.push(await call(caller));
    expect(answers).toEqual(inSession({ settings }, simulated));
    expect(answers).toMatchObject([
      { status: "running", background_watchdog_seconds: 3_600 },
      { status: "running", elapsed_seconds: 60, auto_await_outcome: "cap_reached", output: "building\n" },
      { status: "running", output: "" },
      { status: "running", hint: { code: "repeated_read" } },
      { status: "completed", exit_code: 0, elapsed_seconds: 90, effective_wait_seconds: 30, output: "built\n" },
      { status: "running", output: "ready\n" },
      { status: "completed" },
    ]);
  });

  test("tells of what has ended with the next result, once, as a field and as text", async () => {
    const { call, to, session } = await served({ settings, commands });
    await call("exec", { command: "npm run dev", background: true });
    await call("exec", { command: "npm run build", background: true });
    await to(89);
    const before = await call("process", { action: "status", process_id: "process-1" });
    expect(before.result.notices).toBeUndefined();
    await to(100);
    const after = await call("process", { action: "list" });
    const text =
      '{"finished":[{"process_id":"process-2","status":"completed","description":"npm run build","ended_seconds":90}]}';
    expect(after.result.notices).toEqual([{ kind: "notice", text, process_ids: ["process-2"] }]);
    expect(after.text.split("\n").at(-1)).toBe(`[notice] ${text}`);
    const again = await call("process", { action: "status", process_id: "process-1" });
    expect(again.result.notices).toBeUndefined();
    expect(session.events.filter(({ event }) => event === "told")).toMatchObject([
      { kind: "notice", at: 100_000, due: 90_000, processes: [2], woke: false },
    ]);
  });

  test("tells nothing to a client that has given up: whoever asks next is told", async () => {
    const { call, to } = await served({ settings, commands });
    await call("exec", { command: "npm run build", background: true });
    const leaving = new AbortController();
    await to(10);
    const given = call("exec", { command: "npm run dev" }, { signal: leaving.signal }).catch(() => "gone");
    await to(65);
    leaving.abort();
    expect(await given).toBe("gone");
    await to(95);
    const { result: next } = await call("process", { action: "list" });
    expect(next.notices).toHaveLength(1);
  });

  test("recalls after 15 results what nobody has read, and says in the tools' descriptions that it tells", async () => {
    const { call, to, client } = await served({ settings, commands });
    await call("exec", { command: "npm run build", background: true });
    await to(95);
    const kinds: string[][] = [];
    for (let n = 0; n < 17; n += 1) {
      const { result: listed } = await call("process", { action: "list" });
      kinds.push((listed.notices ?? []).map(({ kind }: { kind: string }) => kind));
    }
    expect(kinds.flatMap((each, n) => each.map((kind) => [n, kind]))).toEqual([
      [0, "notice"],
      [15, "reminder"],
    ]);
    const { tools } = await client.listTools();
    expect(tools[0]!.description).toContain("You are told of the end of it, and of whatever was handed back alive,");
    expect(tools[0]!.description).toContain("is ended 3600 s after its start");
  });
});
