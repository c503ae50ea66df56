/** Policies of other runtimes, served: over the protocol's own client they do what they do simulated. */
import { describe, expect, test } from "vitest";
import type { Agent } from "../../src/agent/effects.ts";
import { loadPolicy } from "../../src/scenario/load.ts";
import { commandOf, every, type Hands, hangs, inSession, lasts, result } from "../aRun.ts";
import { served } from "./inMemory.ts";

const make = commandOf({ line: "make", phases: [lasts(300, every(50, "CC\n"))] });
const hung = commandOf({ line: "hung", phases: [hangs()] });
const commands = { make, hung };

const asProcess = (n: number, wait_sec: number) => ({ action: "wait", process_id: `process-${n}`, wait_sec });

describe("serve --policy codex", () => {
  const settings = loadPolicy("codex").written;

  test("hands back at 10 s, or at the yield that is asked for, 30 s at most, and cuts long waits, as simulated", async () => {
    const { client, done } = await served({ settings, commands });
    const answers = [
      (await done("exec", { command: "make" })).result,
      (await done("exec", { command: "hung", timeout_seconds: 600 })).result,
      (await done("process", asProcess(1, 0.25))).result,
      (await done("process", asProcess(2, 600))).result,
    ];
    const simulated = inSession({ settings }, function* (hands: Hands): Agent<unknown> {
      return [
        result(yield* hands.exec(make)),
        result(yield* hands.exec(hung, { timeout: 600 })),
        result(yield* hands.wait(1, 0.25)),
        result(yield* hands.wait(2, 600)),
      ];
    });
    expect(answers).toEqual(simulated);
    expect(answers).toMatchObject([
      { status: "running", elapsed_seconds: 10 },
      { status: "running", elapsed_seconds: 30, clamp_reasons: ["hard_timeout_max"] },
      { status: "running", effective_wait_seconds: 5, wait_raised: true },
      { status: "running", effective_wait_seconds: 300, clamp_reasons: ["process_poll_max_wait"] },
    ]);
    const [exec] = (await client.listTools()).tools;
    expect(JSON.stringify(exec!.inputSchema)).toContain("what still runs then is handed back alive");
  });
});

describe("serve --policy kimi-code", () => {
  const settings = loadPolicy("kimi-code").written;

  test("moves to the background at 60 s, counts 600 s anew, and refuses a longer timeout, as simulated", async () => {
    const { done } = await served({ settings, commands });
    const refused = await done("exec", { command: "hung", timeout_seconds: 301 });
    expect(refused).toMatchObject({ isError: true });
    expect(refused.text).toContain("timeout_seconds is 301");
    const answers = [
      (await done("exec", { command: "hung" })).result,
      (await done("process", asProcess(1, 590))).result,
      (await done("process", asProcess(1, 100))).result,
    ];
    const simulated = inSession({ settings }, function* (hands: Hands): Agent<unknown> {
      yield* hands.exec(hung, { timeout: 301 });
      return [result(yield* hands.exec(hung)), result(yield* hands.wait(1, 590)), result(yield* hands.wait(1, 100))];
    });
    expect(answers).toEqual(simulated);
    expect(answers).toMatchObject([
      { status: "running", elapsed_seconds: 60, auto_await_outcome: "cap_reached" },
      { status: "running", elapsed_seconds: 650 },
      { status: "timed_out", elapsed_seconds: 660 },
    ]);
  });
});

test("a duplicate is told by name and age, and a silence that ends a command in words", async () => {
  const settings = { duplicate_start: "refuse", inactivity_kill_seconds: 100 } as const;
  const { done } = await served({ settings, commands });
  await done("exec", { command: "hung" });
  const again = await done("exec", { command: "hung" });
  expect(again.isError).toBe(true);
  expect(again.text).toContain("process-1, 30 s after its start, is the same process, still at work");
  const { text, result: ended } = await done("process", asProcess(1, 200));
  expect(ended).toMatchObject({ status: "timed_out", elapsed_seconds: 100, silence_ended_it: true });
  expect(text).toContain("printed nothing for too long and was ended by SIGTERM after 100 s");
});
