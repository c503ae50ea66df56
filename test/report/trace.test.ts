/** A trace opens in Perfetto and chrome://tracing: held against what the Trace Event Format asks for, and against the journal. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type TracedEvent, traceOf } from "../../src/report/trace.ts";
import { yieldpoint } from "../program.ts";
import { folder } from "./folder.ts";

const place = folder();

type Trace = ReturnType<typeof traceOf>;
type Entry = Trace["traceEvents"][number];

/**
 * The format's rules for the three phases that are used: each entry has a name, a phase, a process and a thread; a start and a length
 * are whole microseconds from 0; threads and processes have names; what is on one thread nests and never overlaps in part.
 */
function expectWellFormed(trace: Trace): void {
  expect(faultsOf(trace)).toEqual([]);
}

function faultsOf({ traceEvents }: Trace): readonly string[] {
  const thread = ({ pid, tid }: Entry) => `${pid}/${tid}`;
  const named = (what: string) => traceEvents.filter(({ name }) => name === what);
  const processes = new Set(named("process_name").map(({ pid }) => pid));
  const threads = new Set(named("thread_name").map(thread));
  const isWhole = (value: number | undefined) => Number.isInteger(value) && value! >= 0;
  const open = new Map<string, number[]>();
  const overlapping = traceEvents
    .filter(({ ph }) => ph === "X")
    .toSorted((a, b) => a.ts! - b.ts! || b.dur! - a.dur!)
    .filter((each) => {
      const around = (open.get(thread(each)) ?? []).filter((end) => end > each.ts!);
      open.set(thread(each), [...around, each.ts! + each.dur!]);
      return around.some((end) => each.ts! + each.dur! > end);
    });
  const wrong = traceEvents.filter(({ name, ph, pid, tid, ts, dur, s, args, ...rest }) => {
    if (typeof name !== "string" || Object.keys(rest).length > 0) return true;
    if (!isWhole(pid) || !isWhole(tid) || !processes.has(pid) || !threads.has(`${pid}/${tid}`)) return true;
    if (ph === "M") return Object.keys(args!).join() !== (name.endsWith("sort_index") ? "sort_index" : "name");
    if (ph === "i") return !isWhole(ts) || s !== "t";
    return ph !== "X" || !isWhole(ts) || !isWhole(dur);
  });
  return [...overlapping, ...wrong].map((each) => JSON.stringify(each));
}

const event = (at_seconds: number, name: string, more: Partial<TracedEvent> = {}): TracedEvent => ({
  ...{
    arm: "control",
    at_seconds,
    event: name,
    call_index: null,
    request_index: null,
    process_id: null,
    journal: null,
  },
  ...more,
});

const spansOn = ({ traceEvents }: Trace, thread: string) => {
  const { tid } = traceEvents.find(({ name, args }) => name === "thread_name" && args?.["name"] === thread)!;
  const seconds = (each: Entry) => [each.name, each.ts! / 1e6, (each.ts! + each.dur!) / 1e6];
  return traceEvents.filter((each) => each.ph === "X" && each.tid === tid).map(seconds);
};

describe("the trace of a replay", () => {
  test("has the model, its calls with their holds, and each command, moment for moment as in the journal", () => {
    const file = join(place, "hung.json");
    const { code, stderr, stdout } = yieldpoint(["replay", "hung-test-run", "--arm", "treatment", "--trace", file]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: `trace: ${file}\n` });
    expect(stdout).toContain("540.000  control  process-1  running");
    const trace = JSON.parse(readFileSync(file, "utf8")) as Trace;
    expectWellFormed(trace);
    expect(spansOn(trace, "model")).toEqual([
      ["at work", 0, 300],
      ["at work", 540, 552],
      ["at work", 4_152, 4_164],
      ["at work", 4_164, 5_400],
    ]);
    expect(spansOn(trace, "calls")).toEqual([
      ["exec process-1 pytest -q", 300, 540],
      ["held process-1 until 540.000", 310, 540],
      ["wait process-1 3600 s asked", 552, 4_152],
      ["held process-1 until 4152.000", 552, 4_152],
      ["stopped process-1", 4_164, 4_164],
    ]);
    expect(spansOn(trace, "process-1")).toEqual([["exec process-1 pytest -q", 300, 4_164]]);
    const moments = trace.traceEvents.filter(({ ph }) => ph === "i").map(({ name, ts }) => [name, ts]);
    expect(moments).toEqual([["cut off", 5_400e6]]);
  });

  test("stands beside its events where a program asks for those", () => {
    const file = join(place, "json.json");
    const { code, stdout } = yieldpoint(["replay", "early-failure", "--arm", "control", "--json", "--trace", file]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ scenario: "early-failure", arm: "control" });
    expectWellFormed(JSON.parse(readFileSync(file, "utf8")));
  });

  test("has requests where they are counted", () => {
    const file = join(place, "requests.json");
    yieldpoint(["replay", "panels/budgeted-plus.yaml#3", "--arm", "whole", "--trace", file]);
    const trace = JSON.parse(readFileSync(file, "utf8")) as Trace;
    expectWellFormed(trace);
    expect(spansOn(trace, "model")[0]![0]).toBe("request 1");
  });

  test("goes nowhere where it cannot: said before anything is replayed, and nothing is left lying about", () => {
    mkdirSync(join(place, "taken"));
    const before = readdirSync(place);
    for (const [path, says] of [
      [join(place, "taken"), "which is a folder: expected a file to write"],
      [join(place, "missing", "t.json"), `expected a folder that is there, not ${join(place, "missing")}`],
    ] as const) {
      const { code, stdout, stderr } = yieldpoint(["replay", "hung-test-run", "--arm", "control", "--trace", path]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(`--trace is ${path}`);
      expect(stderr).toContain(says);
    }
    expect(readdirSync(place)).toEqual(before);
  });
});

describe("a trace", () => {
  test("shows a call that never returned until the trial's end", () => {
    const trace = traceOf(
      [
        event(10, "exec_called", { call_index: 1, process_id: 1, journal: "exec  a" }),
        event(90, "cut_off", { journal: "cut off" }),
      ],
      ["control"],
    );
    const [call] = trace.traceEvents.filter(({ name, tid }) => name === "exec a" && tid < 2_000);
    expect(call).toMatchObject({ ts: 10e6, dur: 80e6, args: { control: "never returned" } });
  });

  test("leaves out of the model's work what lies between the end of a turn and the next", () => {
    const trace = traceOf(
      [
        event(0, "trial_began"),
        event(5, "turn_ended"),
        event(20, "woken"),
        event(30, "submitted", { journal: "finished" }),
      ],
      ["control"],
    );
    expect(spansOn(trace, "model")).toEqual([
      ["at work", 0, 5],
      ["at work", 20, 30],
    ]);
  });

  test("gives each arm a process of its own, in the order asked for, and a name that is only a name", () => {
    const hostile = `</script><script>window.hacked = 1</script>`;
    const trace = traceOf([event(3, "submitted", { arm: hostile, journal: "finished" })], ["control", hostile]);
    expectWellFormed(trace);
    const names = trace.traceEvents
      .filter(({ name }) => name === "process_name")
      .map(({ pid, args }) => [pid, args!["name"]]);
    expect(names).toEqual([
      [1, "control"],
      [2, hostile],
    ]);
    expect(trace.traceEvents.filter(({ ph }) => ph === "i").map(({ pid }) => pid)).toEqual([2]);
  });

  test("is well formed however calls overlap", () => {
    const call = fc.record({
      from: fc.nat(50),
      length: fc.nat(30),
      hold: fc.nat(10),
      comes: fc.boolean(),
      counted: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(call, { maxLength: 12 }), (calls) => {
        const events = calls.flatMap(({ from, length, hold, comes, counted }, at) => {
          const request = { request_index: at + 1 };
          const own = { call_index: at + 1, process_id: at + 1, journal: `call ${at + 1}` };
          return [
            event(from, "exec_called", own),
            event(from + Math.min(hold, length), "auto_await_granted", own),
            ...(comes ? [event(from + length, "control_returned", own)] : []),
            ...(counted ? [event(from, "model_asked", request), event(from + hold, "model_answered", request)] : []),
          ];
        });
        const trace = traceOf(
          [...events.toSorted((a, b) => a.at_seconds - b.at_seconds), event(100, "cut_off", { journal: "cut off" })],
          ["control"],
        );
        expectWellFormed(trace);
        const shown = trace.traceEvents.filter(({ ph, tid, args }) => ph === "X" && tid < 2_000 && args !== undefined);
        expect(shown.length).toBe(calls.length);
      }),
    );
  });
});
