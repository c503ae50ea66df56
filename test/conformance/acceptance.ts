/**
 * The design note's acceptance tests, heading by heading, for any world: what the policy promises is promised wherever
 * a trial happens. A world is a function that performs one candidate, alone, and says what became of it.
 */
import { beforeAll, describe, expect, test as inTurn } from "vitest";
import type { Agent } from "../../src/agent/effects.ts";
import type { ExecResult, WaitResult } from "../../src/agent/shell.ts";
import type { WrittenSettings } from "../../src/policy/settings.ts";
import { inSeconds, seconds } from "../../src/policy/time.ts";
import type { EndedTrial } from "../../src/world/simulated.ts";
import {
  type Candidate,
  candidate,
  command,
  commits,
  every,
  type Hands,
  hangs,
  lasts,
  lines,
  result,
  runs,
  type SessionSpec,
  session,
  submits,
  thinks,
} from "../aRun.ts";
import { type Rows, rowsOf } from "../rowsOf.ts";

export type Perform = (candidate: Candidate) => EndedTrial | Promise<EndedTrial>;

const cap240: WrittenSettings = { foreground_auto_await_max_seconds: 240 };

/** 5,400 s told, 600 s in reserve: what remains is usable up to 4,800 s. */
const toldRun = { told: 5_400, reserve: 600, outerLimit: 5_400 };

/** The same reserve in a shorter run: 1,000 s told, usable up to 400 s. */
const shortRun = { told: 1_000, reserve: 600, outerLimit: 1_000 };

/** @param tolerance how late the world may be, in seconds; a simulated one is exact */
export function acceptance(world: string, perform: Perform, tolerance = 0): void {
  // Where time is real, rows mostly wait: they do so side by side.
  const test = tolerance === 0 ? inTurn : inTurn.concurrent;
  const heading = tolerance === 0 ? describe : describe.concurrent;
  const s = (expected: number): number => (tolerance === 0 ? expected : (new Late(expected, tolerance) as never));

  /** The same for what takes an hour or more, and is told four times as fast where time is real. */
  const long = (expected: number): number =>
    tolerance === 0 ? expected : (new Late(expected, 4 * tolerance) as never);

  /** What calls made by hand came to, and the rows they left. */
  async function made<Value>(
    spec: SessionSpec,
    work: (hands: Hands) => Agent<Value>,
  ): Promise<{ readonly value: Value; readonly rows: Rows; readonly ended: EndedTrial }> {
    let value: { readonly is: Value } | null = null;
    const ended = await perform(
      session({ outerLimit: 2_000, ...spec }, function* (hands) {
        value = { is: yield* work(hands) };
      }),
    );
    if (value === null) throw new Error("the session was cut off");
    return { value: (value as { readonly is: Value }).is, rows: rowsOf(ended), ended };
  }

  /** One foreground command, begun so many seconds into a session: what the model is shown, and the row it leaves. */
  async function execAt(
    start: number,
    spec: SessionSpec,
    what: ReturnType<typeof command>,
    options: Parameters<Hands["exec"]>[1] = {},
  ): Promise<{ readonly shown: ExecResult; readonly row: Rows["invocations"][number]; readonly rows: Rows }> {
    const { value, rows } = await made(spec, function* (hands) {
      yield* hands.pass(start);
      return result(yield* hands.exec(what, options));
    });
    return { shown: value, row: rows.invocations[0]!, rows };
  }

  /** One wait for a command that runs since the beginning, made so many seconds into a session. */
  async function waitAt(
    start: number,
    asked: number,
    spec: SessionSpec,
    what: ReturnType<typeof command> = command(hangs()),
  ): Promise<{ readonly shown: WaitResult; readonly row: Rows["waits"][number]; readonly after: Status }> {
    const { value, rows } = await made(spec, function* (hands) {
      result(yield* hands.exec(what, { background: true }));
      yield* hands.pass(start);
      const shown = result(yield* hands.wait(1, asked));
      return { shown, after: result(yield* hands.status(1)).status };
    });
    return { ...value, row: rows.waits[0]! };
  }

  describe(`in the ${world} world`, () => {
    heading("Foreground auto-await", () => {
      test("A1: a command of 2 s under a cap of 240 s comes back with its result, in its own call", async () => {
        const { shown, row } = await execAt(0, { settings: cap240 }, command(lasts(2)));
        expect(shown).toMatchObject({ status: "completed", exit_code: 0, elapsed_seconds: s(2), clamp_reasons: [] });
        expect(row).toMatchObject({
          returned_seconds: s(2),
          foreground_initial_yield_seconds: null,
          initial_yield_reason: null,
          configured_auto_await_cap_seconds: 240,
          effective_auto_await_cap_seconds: null,
          foreground_auto_await_elapsed_seconds: null,
          auto_await_outcome: "not_needed",
          auto_await_clamp_reasons: [],
          returned_running: false,
          status: "completed",
        });
      });

      test("A2: a silent command that never ends, cap 240, no budget: a live process at 240 s, nothing stopped", async () => {
        const { value, rows } = await made({ settings: cap240 }, function* (hands) {
          const shown = result(yield* hands.exec(command(hangs())));
          yield* hands.pass(1_000);
          return { shown, later: result(yield* hands.status(1)) };
        });
        expect(value.shown).toMatchObject({ status: "running", process_id: "process-1", elapsed_seconds: s(240) });
        expect(value.later).toMatchObject({ status: "running", process_id: "process-1", elapsed_seconds: s(1_240) });
        expect(rows.invocations[0]).toMatchObject({
          returned_seconds: s(240),
          foreground_initial_yield_seconds: s(10),
          initial_yield_reason: "idle",
          configured_auto_await_cap_seconds: 240,
          effective_auto_await_cap_seconds: 240,
          foreground_auto_await_elapsed_seconds: s(230),
          auto_await_outcome: "cap_reached",
          auto_await_clamp_reasons: [],
          remaining_run_seconds_before: null,
          remaining_run_seconds_after: null,
          returned_running: true,
        });
        expect(rows.trial).toMatchObject({
          auto_await_cap_crossings: 1,
          budget_clamped_auto_await_count: 0,
          total_foreground_auto_await_seconds: s(230),
          processes_stopped: 0,
          processes_left_running: 1,
        });
      });

      test.each([
        ["silent", hangs(), 10, "idle"],
        ["chatty", hangs(every(5)), 30, "total"],
      ] as const)(
        "A3: cap 0, %s: a live process at the initial boundary, as before there was auto-await",
        async (_, phase, boundary, reason) => {
          const off = { settings: { foreground_auto_await_max_seconds: 0 } };
          const { value, rows } = await made(off, function* (hands) {
            const shown = result(yield* hands.exec(command(phase)));
            const waited = result(yield* hands.wait(1, 60));
            return { shown, waited, stopped: result(yield* hands.stop(1)) };
          });
          expect(value.shown).toMatchObject({ status: "running", elapsed_seconds: s(boundary) });
          expect(value.waited).toMatchObject({ status: "running", process_id: value.shown.process_id });
          expect(value.stopped).toMatchObject({ status: "terminated", process_id: value.shown.process_id });
          expect(rows.invocations[0]).toMatchObject({
            returned_seconds: s(boundary),
            initial_yield_reason: reason,
            configured_auto_await_cap_seconds: 0,
            effective_auto_await_cap_seconds: 0,
            foreground_auto_await_elapsed_seconds: s(0),
            auto_await_outcome: "disabled",
            auto_await_clamp_reasons: [],
          });
          expect(rows.trial).toMatchObject({ auto_await_cap_crossings: 0, budget_clamped_auto_await_count: 0 });
        },
      );

      test("A4: cap 240 and a reserve that begins 60 s after the start: a live process at 60 s, because of the budget", async () => {
        const { shown, row, rows } = await execAt(340, { settings: cap240, ...shortRun }, command(hangs()));
        expect(shown).toMatchObject({
          status: "running",
          elapsed_seconds: s(60),
          clamp_reasons: ["remaining_run_budget"],
          remaining_run_seconds: s(600),
          finalization_reserve_seconds: 600,
          guidance: { code: "finalization_reserve" },
        });
        expect(row).toMatchObject({
          returned_seconds: s(400),
          configured_auto_await_cap_seconds: 240,
          effective_auto_await_cap_seconds: s(60),
          foreground_auto_await_elapsed_seconds: s(50),
          auto_await_outcome: "cap_reached",
          auto_await_clamp_reasons: ["remaining_run_budget"],
          remaining_run_seconds_before: s(660),
          remaining_run_seconds_after: s(600),
        });
        expect(rows.trial).toMatchObject({
          auto_await_cap_crossings: 0,
          budget_clamped_auto_await_count: 1,
          held_in_reserve_seconds: s(0),
          processes_left_running: 1,
        });
      });

      test("A5: already in the reserve, silent: a live process at 10 s and no extra auto-await", async () => {
        const { shown, row, rows } = await execAt(500, { settings: cap240, ...shortRun }, command(hangs()));
        expect(shown).toMatchObject({ status: "running", elapsed_seconds: s(10), effective_auto_await_cap_seconds: 0 });
        expect(row).toMatchObject({
          returned_seconds: s(510),
          effective_auto_await_cap_seconds: 0,
          foreground_auto_await_elapsed_seconds: s(0),
          auto_await_outcome: "cap_reached",
          auto_await_clamp_reasons: ["remaining_run_budget"],
        });
        expect(rows.trial).toMatchObject({
          auto_await_cap_crossings: 0,
          budget_clamped_auto_await_count: 1,
          initial_held_in_reserve_seconds: s(10),
        });
      });

      test("A6: output before and after the boundary is complete and in order after the cap", async () => {
        // An output at the very moment of a hold's end is seen by it; that is promised where time is exact.
        const moments = tolerance === 0 ? [2, 8, 29, 45, 120, 239, 240, 250] : [2, 8, 29, 45, 120, 160, 220, 250];
        const said = moments.map((at) => [at, `said at ${at}\n`] as const);
        const { value } = await made({ settings: cap240 }, function* (hands) {
          const shown = result(yield* hands.exec(command(hangs(lines(...said)))));
          const waited = result(yield* hands.wait(1, 20));
          return { shown, waited, read: result(yield* hands.read(1, 0)) };
        });
        const all = said.map(([, text]) => text);
        expect(value.shown).toMatchObject({ elapsed_seconds: s(240), output_complete: true });
        expect(value.shown.output).toBe(all.slice(0, 7).join(""));
        expect(value.waited.output).toBe(all[7]);
        expect(value.read).toMatchObject({ output: all.join(""), offset: 0, output_complete: true });
      });

      test.each([
        ["silent, exits at 20 s", lasts(20), 20, "process_finished"],
        ["silent for ever", hangs(), 30, "cap_reached"],
        ["chatty for ever", hangs(every(5)), 30, "cap_reached"],
      ] as const)("A7: as shipped (cap 30), %s", async (_, phase, at, outcome) => {
        const { row } = await execAt(0, {}, command(phase));
        expect(row).toMatchObject({
          returned_seconds: s(at),
          auto_await_outcome: outcome,
          auto_await_clamp_reasons: [],
          returned_running: outcome === "cap_reached",
        });
      });

      test.each([
        ["plenty left", { told: 1_800 }, 0],
        ["in the reserve", { told: 1_000 }, 500],
        ["past the deadline", { told: 100 }, 200],
      ] as const)("A8: a background start returns once started, %s, as without a budget", async (_, run, start) => {
        const background = (spec: SessionSpec) => execAt(start, spec, command(hangs()), { background: true });
        const [withBudget, without] = [
          await background({ settings: cap240, ...run }),
          await background({ settings: cap240 }),
        ];
        for (const { shown, row } of [withBudget, without]) {
          expect(shown).toMatchObject({ status: "running", process_id: "process-1", clamp_reasons: [] });
          expect(row).toMatchObject({
            background: true,
            returned_seconds: s(start),
            auto_await_outcome: null,
            auto_await_clamp_reasons: null,
            effective_auto_await_cap_seconds: null,
            returned_running: false,
          });
        }
      });

      test("A9: a timeout of 60 s ends the command at 60 s, however little of the budget is left", async () => {
        const hard = (spec: SessionSpec) =>
          execAt(980, { settings: cap240, ...spec }, command(hangs()), { timeout: 60 });
        for (const { shown, row, rows } of [await hard({ told: 1_000 }), await hard({})]) {
          expect(shown).toMatchObject({
            status: "timed_out",
            signal: "SIGTERM",
            elapsed_seconds: s(60),
            hard_timeout_seconds: 60,
            clamp_reasons: [],
            auto_await_outcome: null,
          });
          expect(row).toMatchObject({
            returned_seconds: s(1_040),
            status: "timed_out",
            hard_timeout_clamp_reasons: [],
          });
          expect(rows.trial).toMatchObject({ hard_hold_seconds: s(60), processes_stopped: 1 });
        }
      });

      test("A10: a cap of 10 s is, to a silent command, a cap of 0 by another name", async () => {
        const capped = (cap: number) =>
          execAt(0, { settings: { foreground_auto_await_max_seconds: cap } }, command(hangs()));
        const [ten, none] = [await capped(10), await capped(0)];
        expect(ten.row).toMatchObject({ returned_seconds: s(10), auto_await_outcome: "cap_reached" });
        expect(none.row).toMatchObject({ returned_seconds: s(10), auto_await_outcome: "disabled" });
        const labels = ["auto_await_outcome", "configured_auto_await_cap_seconds", "effective_auto_await_cap_seconds"];
        // Where time is real, two runs do not agree to the millisecond about when.
        const shown = tolerance === 0 ? {} : { elapsed_seconds: s(10) };
        const row =
          tolerance === 0
            ? {}
            : {
                called_seconds: s(0),
                returned_seconds: s(10),
                foreground_initial_yield_seconds: s(10),
                foreground_auto_await_elapsed_seconds: s(0),
                time_to_first_control_seconds: s(10),
              };
        expect(without(ten.shown, labels)).toEqual({ ...without(none.shown, labels), ...shown });
        expect(without(ten.row, labels)).toEqual({ ...without(none.row, labels), ...row });
      });
    });

    heading("Process wait", () => {
      test("W1: of 30 s, with nothing that binds, is granted as asked", async () => {
        const { shown, row } = await waitAt(0, 30, {});
        expect(shown).toMatchObject({
          status: "running",
          requested_wait_seconds: 30,
          effective_wait_seconds: 30,
          wait_clamped: false,
          clamp_reasons: [],
          wait_raised: false,
          wait_defaulted: false,
        });
        expect(row).toMatchObject({
          requested_wait_seconds: 30,
          effective_wait_seconds: 30,
          actual_wait_seconds: s(30),
          wait_clamped: false,
          wait_clamp_reasons: [],
          process_status_after_wait: "running",
        });
      });

      test("W2: of 3,600 s in slices of 240 s lasts 240 s, and the process lives", async () => {
        const { shown, row, after } = await waitAt(0, 3_600, { settings: { process_wait_slice_seconds: 240 } });
        expect(shown).toMatchObject({
          status: "running",
          requested_wait_seconds: 3_600,
          effective_wait_seconds: 240,
          wait_clamped: true,
          clamp_reasons: ["process_wait_slice"],
        });
        expect(row).toMatchObject({
          requested_wait_seconds: 3_600,
          effective_wait_seconds: 240,
          actual_wait_seconds: s(240),
          wait_clamped: true,
          wait_clamp_reasons: ["process_wait_slice"],
          process_status_after_wait: "running",
        });
        expect(after).toBe("running");
      });

      test("W3: of 3,600 s, with 710 s left and 600 s in reserve, lasts 110 s", async () => {
        const unsliced = { settings: { process_wait_slice_seconds: "none" }, ...shortRun } as const;
        const { shown, row, after } = await waitAt(290, 3_600, unsliced);
        expect(shown).toMatchObject({
          status: "running",
          requested_wait_seconds: 3_600,
          effective_wait_seconds: s(110),
          wait_clamped: true,
          clamp_reasons: ["remaining_run_budget"],
          remaining_run_seconds: s(600),
          finalization_reserve_seconds: 600,
        });
        expect(row).toMatchObject({
          effective_wait_seconds: s(110),
          actual_wait_seconds: s(110),
          wait_clamp_reasons: ["remaining_run_budget"],
          remaining_run_seconds_before: s(710),
          remaining_run_seconds_after: s(600),
        });
        expect(after).toBe("running");
      });

      test("W4: with 500 s left and 600 s in reserve does not begin, and says what to do instead", async () => {
        const { shown, row, after } = await waitAt(500, 3_600, shortRun);
        expect(shown).toMatchObject({
          status: "running",
          effective_wait_seconds: 0,
          wait_clamped: true,
          clamp_reasons: ["remaining_run_budget"],
          remaining_run_seconds: s(500),
          finalization_reserve_seconds: 600,
          guidance: {
            code: "finalization_reserve",
            actions: ["inspect_output", "stop_process", "commit", "finish"],
            text: expect.stringMatching(/output.*stop.*commit.*finish/s),
          },
        });
        expect(row).toMatchObject({
          effective_wait_seconds: 0,
          actual_wait_seconds: s(0),
          wait_clamped: true,
          wait_clamp_reasons: ["remaining_run_budget"],
          guided: true,
        });
        expect(after).toBe("running");
      });

      test("W5: granted 240 s, for a process that ends after 3 s, brings the final result at 3 s", async () => {
        const sliced = { settings: { process_wait_slice_seconds: 240 } } as const;
        const { shown, row, after } = await waitAt(100, 3_600, sliced, command(lasts(103)));
        expect(shown).toMatchObject({ status: "completed", exit_code: 0, effective_wait_seconds: 240 });
        expect(row).toMatchObject({ actual_wait_seconds: s(3), process_status_after_wait: "completed" });
        expect(after).toBe("completed");
      });

      test("W6: without a budget and with the slice on auto, 3,600 s are granted in full", async () => {
        const { shown, row } = await waitAt(0, 3_600, { outerLimit: 10_000 });
        expect(shown).toMatchObject({ effective_wait_seconds: 3_600, wait_clamped: false, clamp_reasons: [] });
        expect(shown).not.toHaveProperty("remaining_run_seconds");
        expect(row).toMatchObject({ actual_wait_seconds: long(3_600), remaining_run_seconds_before: null });
      });
    });

    heading("Integration", () => {
      describe("I1: outer 5,400, reserve 600, a test that never ends, cap 240, every wait asks 3,600", () => {
        const run: SessionSpec = { settings: { ...cap240, process_wait_slice_seconds: 240 }, ...toldRun };
        let ended: EndedTrial;
        let rows: Rows;
        let shown: ShownByI1;
        beforeAll(async () => {
          ({ ended, rows, value: shown } = await made(run, askingForHours));
        });

        test("control returns at least every 240 s", () => {
          expect(rows.invocations[0]).toMatchObject({ returned_seconds: long(240), returned_running: true });
          expect(rows.waits.filter(({ action }) => action === "wait").map((row) => row.returned_seconds)).toEqual(
            [492, 744, 996, 1_248, 1_500, 1_752, 2_004, 2_256, 2_508, 2_760, 3_012, 3_264, 3_516, 3_768, 4_020, 4_272]
              .concat([4_524, 4_776, 4_800])
              .map(long),
          );
          expect(rows.trial.longest_control_gap_seconds).toEqual(long(240));
        });

        test("no hold reaches into the reserve, which begins at 4,800 s", () => {
          expect(rows.trial).toMatchObject({ held_in_reserve_seconds: long(0), initial_held_in_reserve_seconds: 0 });
          expect(rows.waits.filter(({ action }) => action === "wait").at(-1)).toMatchObject({
            returned_seconds: long(4_800),
            actual_wait_seconds: long(12),
            wait_clamp_reasons: ["remaining_run_budget"],
          });
        });

        test("the process can be stopped", () => {
          expect(rows.waits.at(-1)).toMatchObject({ action: "stop", process_status_after_wait: "terminated" });
          expect(rows.trial).toMatchObject({ processes_stopped: 1, processes_left_running: 0 });
        });

        test("its output can be read all the while, complete", () => {
          for (const [index, { at, text, complete }] of shown.read.entries()) {
            expect({ index, complete, lines: text.split("\n").length - 1 }).toEqual({
              index,
              complete: true,
              lines: tolerance === 0 ? Math.floor(at / 60) : new Late(Math.floor(at / 60), 1),
            });
          }
        });

        test("every result of a wait says what remains of the run", () => {
          const expected = rows.waits.filter(({ action }) => action === "wait");
          expect(shown.remaining).toEqual(expected.map((row) => row.remaining_run_seconds_after));
          expect(shown.guided).toBe(true);
        });

        test("the model knows that its budget ends before the outer limit says so", () => {
          expect(rows.trial).toMatchObject({
            outer_timeout: false,
            finalized: true,
            outcome: "submitted",
            first_budget_signal_seconds: long(492),
            time_entered_finalization_reserve: long(4_800),
          });
          expect(ended.endedAt - ended.startedAt).toBeLessThan(5_400_000);
        });
      });

      test("I1, with a stub model: it stops at the reserve and submits in time, whatever it asked for", async () => {
        const ended = await perform(
          candidate({
            settings: { ...cap240, process_wait_slice_seconds: 240 },
            ...toldRun,
            profile: { step: seconds(12) },
            plan: [runs(command(hangs())), thinks(300), commits, submits],
          }),
        );
        const { trial, waits } = rowsOf(ended);
        expect(trial).toMatchObject({
          outcome: "submitted",
          duration_seconds: long(5_112),
          longest_control_gap_seconds: long(240),
          held_in_reserve_seconds: long(0),
          wait_slice_count: 18,
          budget_clamped_process_wait_count: 1,
          processes_stopped: 1,
        });
        expect(waits.at(-1)).toMatchObject({ action: "stop", called_seconds: long(4_812) });
      });
    });
  });
}

type Status = ExecResult["status"];

interface ShownByI1 {
  readonly remaining: readonly (number | undefined)[];
  readonly read: readonly { readonly at: number; readonly text: string; readonly complete: boolean }[];
  readonly guided: boolean;
}

/** Asks for an hour again and again, 12 s apart, until a result speaks of the budget; reads all output each time. */
function* askingForHours(hands: Hands): Agent<ShownByI1> {
  const remaining: (number | undefined)[] = [];
  const read: { at: number; text: string; complete: boolean }[] = [];
  let guided = false;
  result(yield* hands.exec(command(hangs(every(60, "still at it\n")))));
  for (let reasons: readonly string[] = []; !reasons.includes("remaining_run_budget"); ) {
    yield* hands.pass(12);
    const waited = result(yield* hands.wait(1, 3_600));
    reasons = waited.clamp_reasons;
    remaining.push(waited.remaining_run_seconds);
    guided ||= waited.guidance !== undefined;
    const piece = result(yield* hands.read(1, 0));
    read.push({ at: inSeconds(hands.now), text: piece.output, complete: piece.output_complete });
  }
  yield* hands.pass(12);
  result(yield* hands.stop(1));
  return { remaining, read, guided };
}

function without(row: object, columns: readonly string[]): object {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !columns.includes(name)));
}

/** Equals any number from `expected` up to `tolerance` later (or earlier, where it counts down). */
class Late {
  // Vitest copies matchers to print them, which no private member survives.
  readonly expected: number;
  readonly tolerance: number;
  constructor(expected: number, tolerance: number) {
    this.expected = expected;
    this.tolerance = tolerance;
  }
  asymmetricMatch(found: unknown): boolean {
    return typeof found === "number" && Math.abs(found - this.expected) <= this.tolerance;
  }
  toAsymmetricMatcher(): string {
    return `${this.expected} within ${this.tolerance}`;
  }
}
