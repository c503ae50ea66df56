/**
 * Each preset does what its runtime was seen to do: what returns when, what is killed, clamped or refused, and how that is
 * told. The rows are taken from the fact sheet of the runtimes, and hold in the simulated and in the fake-timers world.
 */
import { describe, expect, test } from "vitest";
import type { Agent } from "../../src/agent/effects.ts";
import type { WrittenSettings } from "../../src/policy/settings.ts";
import { loadPolicy } from "../../src/scenario/load.ts";
import type { Phase } from "../../src/world/script.ts";
import {
  command,
  commandOf,
  type Hands,
  hangs,
  lasts,
  lines,
  refusal,
  result,
  type SessionSpec,
  session,
} from "../aRun.ts";
import { worlds } from "../conformance/worlds.ts";

/** What happens, by whose hand, and what is to come of it; told of a budget where there is one. */
export type Row = readonly [
  says: string,
  work: (hands: Hands) => Agent<unknown>,
  expected: unknown,
  told?: Pick<SessionSpec, "told" | "reserve" | "cancels">,
];

/** One foreground command of this line, alone. */
export const runs = (line: string, phase: Phase, timeout?: number) =>
  function* (hands: Hands) {
    const what = commandOf({ phases: [phase], line });
    return result(yield* hands.exec(what, timeout === undefined ? {} : { timeout }));
  };

/** One that asks for a timeout that there is not. */
export const isRefused = (line: string, timeout: number) =>
  function* (hands: Hands) {
    return refusal(yield* hands.exec(commandOf({ phases: [hangs()], line }), { timeout }));
  };

/** A wait for a command that runs in the background since `before`, or for one that ends. */
export const waits = (
  length: number | undefined,
  { before = 0, phase = hangs() }: { before?: number; phase?: Phase } = {},
) =>
  function* (hands: Hands) {
    result(yield* hands.exec(command(phase), { background: true }));
    yield* hands.pass(before);
    return result(yield* hands.wait(1, length));
  };

export const waitRefused = (length: number) =>
  function* (hands: Hands) {
    result(yield* hands.exec(command(hangs()), { background: true }));
    return refusal(yield* hands.wait(1, length));
  };

/** A command that ignores TERM, handed back or in the background, is stopped. */
export function* stopsStubborn(hands: Hands) {
  const stubborn = commandOf({ phases: [hangs()], onTerm: null });
  const { elapsed_seconds: began } = result(yield* hands.exec(stubborn));
  const { status, signal, elapsed_seconds: ended } = result(yield* hands.stop(1));
  return { status, signal, took: ended - began };
}

/** A command is handed back, and goes on: to its end, under the same id, with all it has printed. */
export function* goesOn(hands: Hands) {
  const said = lines([1, "a\n"], [500, "b\n"]);
  const shown = result(yield* hands.exec(command(lasts(600, said))));
  yield* hands.pass(700);
  const later = result(yield* hands.status(1));
  return [shown.process_id, shown.output, later.process_id, later.status, later.elapsed_seconds, later.output];
}
export const wentOn = ["process-1", "a\n", "process-1", "completed", 600, "b\n"];

export const handedBack = (elapsed: number, outcome: string, reasons: readonly string[] = []) => ({
  status: "running",
  elapsed_seconds: elapsed,
  auto_await_outcome: outcome,
  clamp_reasons: reasons,
});

/** The rows of one preset, in every world. */
export function preset(name: string, rows: readonly Row[]): void {
  const policy = loadPolicy(name);

  describe(name, () => {
    test("says where it is from and of when, and is told by six rows or more", () => {
      expect(policy.source).toMatch(/20\d\d-\d\d-\d\d/);
      expect(policy.says.length).toBeGreaterThan(20);
      expect(rows.length).toBeGreaterThanOrEqual(6);
    });

    holds(rows, policy.written);
  });
}

/** What rows say is so under these settings, in every world. */
export function holds(rows: readonly Row[], settings: WrittenSettings): void {
  for (const [world, perform] of worlds) {
    for (const [says, work, expected, told] of rows) {
      test(`${says} (${world})`, async () => {
        let value: { readonly is: unknown } | null = null;
        const whole = session({ outerLimit: 20_000, settings, ...told }, function* (hands) {
          value = { is: yield* work(hands) };
        });
        await perform(whole);
        expect(value).toMatchObject({ is: expected });
      });
    }
  }
}
