/** Holds that end with a sign of failure, or before the prompt cache expires: in the simulated and in the fake-timers world. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Agent } from "../../src/agent/effects.ts";
import { Evidence, evidenceOf } from "../../src/agent/evidence.ts";
import type { WrittenSettings } from "../../src/policy/settings.ts";
import { seconds } from "../../src/policy/time.ts";
import type { EndedTrial } from "../../src/world/simulated.ts";
import {
  aRun,
  command,
  commandOf,
  every,
  type Hands,
  hangs,
  lasts,
  lines,
  only,
  result,
  runs,
  type SessionSpec,
  session,
  submits,
  thinks,
} from "../aRun.ts";
import { someBytes } from "../arbitraries.ts";
import { worlds } from "../conformance/worlds.ts";
import { rowsOf } from "../rowsOf.ts";
import { served } from "../serve/inMemory.ts";

const on: WrittenSettings = {
  foreground_auto_await_max_seconds: 240,
  failure_evidence: "FAILED | Traceback (most recent call last)",
};
const inWaits: WrittenSettings = { ...on, failure_evidence_ends_waits: true };

const tests = (at: number, more: string = "") =>
  command(lasts(600, lines([5, "....\n"], [at, `x FAILED y${more}\n`], [at + 50, "...\n"])));

describe("texts that are looked for in output", () => {
  const found = (texts: readonly string[], output: Uint8Array): number[] => foundBy(new Evidence(texts), output);
  const foundBy = (evidence: Evidence, output: Uint8Array): number[] => {
    let standing = Evidence.begin;
    return [...output].flatMap((byte, index) => {
      standing = evidence.read(standing, byte);
      return evidence.isComplete(standing) ? [index + 1] : [];
    });
  };
  const naive = (texts: readonly string[], output: Uint8Array): number[] =>
    Array.from({ length: output.length }, (_, index) => index + 1).filter((to) =>
      texts.some(
        (text) =>
          text !== "" &&
          Buffer.from(output.subarray(0, to)).lastIndexOf(text) === to - Buffer.byteLength(text) &&
          to >= Buffer.byteLength(text),
      ),
    );
  const some = fc.array(fc.stringMatching(/^[ab]{1,5}$/), { minLength: 1, maxLength: 4 });

  test("are found where they are, and nowhere else, several at once", () => {
    fc.assert(
      fc.property(some, fc.stringMatching(/^[ab\n]{0,60}$/), (texts, output) => {
        const printed = new TextEncoder().encode(output);
        expect(found(texts, printed)).toEqual(naive(texts, printed));
      }),
    );
  });

  test("are foreseen in a script exactly when they will be printed", () => {
    const looked = fc.array(
      fc.record({
        at: fc.integer({ min: 0, max: 50 }),
        line: fc.oneof(
          someBytes,
          fc.constantFrom("ab\n", "ba").map((text) => new TextEncoder().encode(text)),
        ),
      }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(looked, some, fc.integer({ min: 1, max: 9 }), fc.nat(80), (said, texts, interval, cursor) => {
        const at = [...said]
          .sort((a, b) => a.at - b.at)
          .map(({ at: second, line }) => ({ at: seconds(second), line, says: null }));
        const loop = {
          output: "every",
          every: seconds(interval),
          line: new TextEncoder().encode(said.length % 2 === 0 ? "a" : "b\n"),
        } as const;
        const { prints } = command(lasts(60, { output: "at", lines: at }), lasts(40, loop));
        if (prints === null) return;
        const evidence = new Evidence(texts);
        const whole = prints.slice(0, prints.writtenBy(100_000)).bytes;
        const to = naive(texts, whole).find((byte) => byte > cursor);
        const when =
          to === undefined
            ? null
            : Array.from({ length: 101 }, (_, s) => s * 1_000).find((ms) => prints.writtenBy(ms) >= to)!;
        expect(prints.printsAfter(cursor, evidence)).toBe(when);
      }),
    );
  });

  test("are foreseen in output without end, or not", () => {
    const { prints } = command(hangs(every(5, "aab\n")));
    expect(prints!.printsAfter(0, new Evidence(["b\n".trim()]))).toBe(5_000);
    expect(prints!.printsAfter(4_000_001, new Evidence(["ab"]))).toBe(5_000 * 1_000_001);
    expect(prints!.printsAfter(0, new Evidence(["x"]))).toBeNull();
    const endless = command(hangs(every(1, "ab"))).prints!;
    expect(endless.printsAfter(0, new Evidence(["ababab"]))).toBe(3_000);
  });

  test("are those of the setting, between bars", () => {
    expect(foundBy(evidenceOf("a | b|c"), Buffer.from("b|c a"))).toEqual([3, 5]);
    expect(foundBy(evidenceOf("a | b|c"), Buffer.from("b c |"))).toEqual([]);
  });
});

describe.each(worlds)("a hold (%s)", (_, perform) => {
  async function made<Value>(
    work: (hands: Hands) => Agent<Value>,
    settings: WrittenSettings,
    spec: SessionSpec = {},
  ): Promise<{ readonly is: Value; readonly ended: EndedTrial }> {
    let value: { readonly is: Value } | null = null;
    const whole = session({ outerLimit: 3_000, ...spec, settings }, function* (hands) {
      value = { is: yield* work(hands) };
    });
    const ended = await perform(whole);
    return { is: (value as unknown as { readonly is: Value }).is, ended };
  }
  const execs = (what: ReturnType<typeof command>) =>
    function* (hands: Hands) {
      return result(yield* hands.exec(what));
    };

  test("ends with the line that shows a failure, and says so", async () => {
    const { is, ended } = await made(execs(tests(100)), on);
    expect(is).toMatchObject({
      status: "running",
      elapsed_seconds: 100,
      auto_await_outcome: "failure_evidence",
      clamp_reasons: [],
      output: "....\nx FAILED y\n",
    });
    expect(rowsOf(ended).invocations[0]).toMatchObject({
      auto_await_outcome: "failure_evidence",
      returned_running: true,
    });
    expect(rowsOf(ended).trial).toMatchObject({ auto_await_cap_crossings: 0 });
  });

  test("lasts as long as ever where no text is stated, or none is printed", async () => {
    expect((await made(execs(tests(100)), { ...on, failure_evidence: "none" })).is).toMatchObject({
      elapsed_seconds: 240,
    });
    expect((await made(execs(tests(100)), { ...on, failure_evidence: "PANIC" })).is).toMatchObject({
      elapsed_seconds: 240,
    });
  });

  test("is not ended before its initial boundary, but then at once", async () => {
    const early = command(lasts(600, lines([1, "FAILED\n"])));
    expect((await made(execs(early), on)).is).toMatchObject({
      elapsed_seconds: 11,
      auto_await_outcome: "failure_evidence",
    });
  });

  test("of a command that ends at that very moment has its result", async () => {
    const ends = command(lasts(100, lines([100, "FAILED\n"])));
    expect((await made(execs(ends), on)).is).toMatchObject({
      status: "completed",
      auto_await_outcome: "process_finished",
    });
  });

  test("is ended by a text that came in two pieces", async () => {
    const pieces = command(lasts(600, lines([50, "FAI"], [80, "LED\n"])));
    expect((await made(execs(pieces), on)).is).toMatchObject({ elapsed_seconds: 80 });
  });

  test("of a wait ends so where the policy has it, and only with what was not shown before", async () => {
    const waits = function* (hands: Hands) {
      result(yield* hands.exec(tests(100), { background: true }));
      return [result(yield* hands.wait(1, 200)), result(yield* hands.wait(1, 200))];
    };
    const { is, ended } = await made(waits, inWaits);
    expect(is).toMatchObject([
      { elapsed_seconds: 100, ended_early: "failure_evidence", wait_clamped: false, effective_wait_seconds: 200 },
      { elapsed_seconds: 300 },
    ]);
    expect("ended_early" in is[1]!).toBe(false);
    expect(rowsOf(ended).waits.map((row) => row["ended_early"])).toEqual(["failure_evidence", null]);
    expect((await made(waits, on)).is).toMatchObject([{ elapsed_seconds: 200 }, { elapsed_seconds: 400 }]);
  });

  test("hears nothing of what a killed command would have printed", async () => {
    const { is } = await made(
      function* (hands) {
        return result(yield* hands.exec(tests(100), { timeout: 60 }));
      },
      { ...on, hard_timeout_suppresses_yield: false },
    );
    expect(is).toMatchObject({ status: "timed_out", elapsed_seconds: 60 });
  });

  const cached: WrittenSettings = {
    foreground_auto_await_max_seconds: 600,
    cache_aware_slice: true,
    cache_lifetime_seconds: 300,
    process_wait_slice_seconds: "none",
  };
  const silent = commandOf({ phases: [hangs()] });

  test("ends where the prompt cache would expire, less the time of the next request", async () => {
    const { is } = await made(function* (hands) {
      const first = result(yield* hands.exec(silent));
      yield* hands.pass(10);
      return [first, result(yield* hands.wait(1, 3_600)), result(yield* hands.wait(1, 100))];
    }, cached);
    expect(is).toMatchObject([
      { elapsed_seconds: 285, clamp_reasons: ["prompt_cache_lifetime"], auto_await_outcome: "cap_reached" },
      {
        elapsed_seconds: 570,
        clamp_reasons: ["prompt_cache_lifetime"],
        effective_wait_seconds: 275,
        wait_clamped: true,
      },
      { elapsed_seconds: 670, clamp_reasons: [] },
    ]);
  });

  test("is not cut for a cache that has expired, or is about to", async () => {
    const { is } = await made(function* (hands) {
      yield* hands.pass(280);
      const first = result(yield* hands.exec(silent));
      yield* hands.pass(290);
      return [first, result(yield* hands.wait(1, 900))];
    }, cached);
    expect(is).toMatchObject([{ elapsed_seconds: 600, clamp_reasons: [] }, { effective_wait_seconds: 900 }]);
  });
});

describe("a cache that the arm's provider tells of", () => {
  const economy = {
    cache: { lifetime: seconds(300), mode: "hard", gone: seconds(300), write: 1.25, read: 0.1, least: 0 },
    price: { input: 5, output: 25 },
  } as const;
  const plan = [thinks(20), runs(command(lasts(1_000))), submits];
  const settings: WrittenSettings = { foreground_auto_await_max_seconds: 240, process_wait_slice_seconds: "none" };
  const misses = (more: WrittenSettings) => {
    const events = aRun({ plan, economy, settings: { ...settings, ...more } });
    const reasons = only(events, "wait_granted").map(({ clampReasons, at, until }) => [
      ...clampReasons,
      (until - at) / 1_000,
    ]);
    return [only(events, "model_asked").filter(({ hit }) => hit === false).length, reasons];
  };

  test("is counted from the start of the last request, and outlives every wait", () => {
    // Each step takes 5 s; a wait is asked for by a request that began 5 s before it.
    const sliced = ["prompt_cache_lifetime", 280] as const;
    expect(misses({ cache_aware_slice: true })).toEqual([0, [sliced, sliced, sliced]]);
    expect(misses({})).toEqual([1, [[3_600]]]);
    expect(misses({ cache_aware_slice: true, cache_slice_margin_seconds: 100 })[0]).toBe(0);
  });
});

test("a served wait that came back early says why", async () => {
  const { done } = await served({ settings: inWaits, commands: { "pytest -q": tests(100) } });
  await done("exec", { command: "pytest -q", background: true });
  const { text } = await done("process", { action: "wait", process_id: "process-1", wait_sec: 200 });
  expect(text).toContain("It came back early (failure_evidence).");
});
