/** What a client is answered, to the millisecond: scripted processes, and time that a test turns by hand. */
import { describe, expect, test, vi } from "vitest";
import { processId } from "../../src/agent/processes.ts";
import { command, commandOf, every, hangs, lasts, lines } from "../aRun.ts";
import { served } from "./inMemory.ts";

const stubborn = commandOf({ phases: [hangs()], onTerm: null });

describe("a served command", () => {
  test("comes back with the fields that the interface names, and no others, as structure and as text", async () => {
    const { done } = await served({ commands: { "echo hi": command(lasts(2, lines([1, "hi\n"]))) } });
    const { result, text, isError } = await done("exec", { command: "echo hi" });
    expect(result).toEqual({
      status: "completed",
      process_id: "process-1",
      exit_code: 0,
      signal: null,
      elapsed_seconds: 2,
      auto_await_outcome: "not_needed",
      configured_auto_await_cap_seconds: 30,
      effective_auto_await_cap_seconds: 30,
      clamp_reasons: [],
      output: "hi\n",
      next_offset: 3,
      output_complete: true,
    });
    expect(text).toBe("hi\n[process-1 completed with exit code 0 after 2 s. Its output so far ends at byte 3.]");
    expect(isError).toBe(false);
  });

  test("that hangs is handed back at the cap, with a word on what to do and what not to do", async () => {
    const { done } = await served({ settings: { foreground_auto_await_max_seconds: 240 } });
    const { result, text } = await done("exec", { command: "pytest -q" });
    expect(result).toMatchObject({ status: "running", elapsed_seconds: 240, auto_await_outcome: "cap_reached" });
    expect(text).toContain('do not start it again; process(action: "wait", process_id: "process-1") waits for it');
  });

  test("in the background is handed back at once; timeout is read as timeout_seconds", async () => {
    const { done } = await served();
    expect((await done("exec", { command: "serve", background: true })).result).toMatchObject({
      status: "running",
      elapsed_seconds: 0,
    });
    expect((await done("exec", { command: "build", timeout: 60 })).result).toMatchObject({
      status: "timed_out",
      elapsed_seconds: 60,
      hard_timeout_seconds: 60,
      signal: "SIGTERM",
    });
  });

  test("whose timeout is out of range is refused, and nothing is started", async () => {
    const { done } = await served();
    const { isError, text } = await done("exec", { command: "build", timeout_seconds: 3_601 });
    expect([isError, text]).toEqual([true, "timeout_seconds is 3601: expected more than 0, up to 3600"]);
    expect((await done("process", { action: "list" })).result.processes).toEqual([]);
  });
});

describe("a served command under hard timeouts by class", () => {
  test("is told of its class and timeout, in the result and in words", async () => {
    const { done } = await served({ settings: { hard_timeout_by_class: true } });
    const { result, text, isError } = await done("exec", { command: "uv run pytest" });
    expect(result).toMatchObject({
      status: "timed_out",
      elapsed_seconds: 900,
      command_class: "test",
      hard_timeout_seconds: 900,
    });
    expect(text).toContain("Its hard limit is 900 s, as of class test.");
    expect(isError).toBe(false);
    expect((await done("exec", { command: "pytest", timeout: 60 })).result).not.toHaveProperty("command_class");
  });

  test("comes back early for its risk, and is told which", async () => {
    const settings = { auto_await_risk: "advisory", risk_cap_full_test_suite_seconds: 20 } as const;
    const { done } = await served({ settings });
    const { result, text } = await done("exec", { command: "pytest" });
    expect(result).toMatchObject({
      status: "running",
      elapsed_seconds: 20,
      clamp_reasons: ["command_risk"],
      command_risks: ["full_test_suite"],
    });
    expect(text).toContain("It was handed back early (command_risk).");
  });

  test("is ended at its total timeout, and its description says so", async () => {
    const { client, done } = await served({ settings: { total_timeout_seconds: 50 } });
    const { tools } = await client.listTools();
    expect(tools[0]!.description).toContain("Every command, in the background too, is ended 50 s after its start");
    await done("exec", { command: "serve", background: true });
    expect((await done("process", { action: "wait", process_id: "process-1", wait_sec: 60 })).result).toMatchObject({
      status: "timed_out",
      elapsed_seconds: 50,
    });
  });
});

describe("a served wait", () => {
  test("says what it was granted, and carries the rest of the process", async () => {
    const { done } = await served({ commands: { job: command(lasts(100, every(30, "on\n"))) } });
    await done("exec", { command: "job", background: true });
    expect((await done("process", { action: "wait", process_id: "process-1", wait_sec: 3_600 })).result).toEqual({
      status: "completed",
      process_id: "process-1",
      exit_code: 0,
      signal: null,
      elapsed_seconds: 100,
      requested_wait_seconds: 3_600,
      effective_wait_seconds: 3_600,
      wait_clamped: false,
      clamp_reasons: [],
      wait_raised: false,
      wait_defaulted: false,
      output: "on\non\non\n",
      offset: 0,
      next_offset: 9,
      output_complete: true,
    });
  });

  test("without a length is the default, and a short one is raised", async () => {
    const { done } = await served();
    await done("exec", { command: "x", background: true });
    const waited = { action: "wait", process_id: "process-1" };
    expect((await done("process", waited)).result).toMatchObject({
      requested_wait_seconds: 30,
      effective_wait_seconds: 30,
      wait_defaulted: true,
    });
    const short = await done("process", { ...waited, wait_sec: 1 });
    expect(short.result).toMatchObject({ effective_wait_seconds: 10, wait_raised: true });
    expect(short.text).toContain("The wait of 1 s was raised to 10 s, the shortest there is.");
  });

  test("is cut to its slice, by the budget, and does not start in the reserve: there is guidance instead", async () => {
    const { done, to } = await served({ told: 1_000, reserve: 600 });
    await done("exec", { command: "x", background: true });
    const waited = { action: "wait", process_id: "process-1", wait_sec: 3_600 };
    expect((await done("process", waited)).result).toMatchObject({
      effective_wait_seconds: 240,
      clamp_reasons: ["process_wait_slice"],
      remaining_run_seconds: 760,
    });
    const cut = await done("process", waited);
    expect(cut.result).toMatchObject({
      effective_wait_seconds: 160,
      clamp_reasons: ["remaining_run_budget"],
      remaining_run_seconds: 600,
      finalization_reserve_seconds: 600,
    });
    expect(cut.text).toContain("The wait of 3600 s was cut to 160 s (remaining_run_budget).");
    await to(500);
    const late = await done("process", waited);
    expect(late.result).toMatchObject({
      status: "running",
      effective_wait_seconds: 0,
      wait_clamped: true,
      guidance: { code: "finalization_reserve", actions: ["inspect_output", "stop_process", "commit", "finish"] },
    });
    expect(late.text).toContain("The wait of 3600 s did not start (remaining_run_budget).");
    expect(late.text).toContain("commit, and finish");
  });

  test("of a billion seconds is clamped, or refused where the policy says so", async () => {
    const waited = { action: "wait", process_id: "process-1", wait_sec: 1e9 };
    const clamping = await served();
    await clamping.done("exec", { command: "x", background: true });
    expect((await clamping.done("process", waited)).result).toMatchObject({
      requested_wait_seconds: 1e9,
      effective_wait_seconds: 3_600,
      clamp_reasons: ["process_poll_max_wait"],
    });
    const refusing = await served({ settings: { process_poll_over_max: "refuse" } });
    await refusing.done("exec", { command: "x", background: true });
    expect(await refusing.done("process", waited)).toMatchObject({
      isError: true,
      text: "wait_sec is 1000000000: a wait is at most 3600 s",
    });
  });
});

describe("a client that asks for no progress", () => {
  const quiet = { quietHold: 50, settings: { foreground_auto_await_max_seconds: 240 } } as const;

  test("is answered before it gives up: holds of exec and wait end at its limit", async () => {
    const { done } = await served(quiet);
    expect((await done("exec", { command: "x" })).result).toMatchObject({
      status: "running",
      elapsed_seconds: 50,
      clamp_reasons: ["client_call_limit"],
    });
    expect((await done("process", { action: "wait", process_id: "process-1", wait_sec: 600 })).result).toMatchObject({
      effective_wait_seconds: 50,
      clamp_reasons: ["client_call_limit"],
    });
    expect((await done("exec", { command: "y", timeout: 600 })).result).toMatchObject({
      status: "running",
      elapsed_seconds: 50,
      clamp_reasons: ["client_call_limit"],
      hard_timeout_seconds: 600,
    });
  });

  test("differs from one that does, which is held for the whole cap and hears of it every 10 s", async () => {
    const { done } = await served(quiet);
    const heard: unknown[] = [];
    const { result } = await done(
      "exec",
      { command: "x" },
      { onprogress: ({ progress }) => void heard.push(progress) },
    );
    expect(result).toMatchObject({ elapsed_seconds: 240, auto_await_outcome: "cap_reached", clamp_reasons: [] });
    expect(heard).toEqual(Array.from({ length: 24 }, (_, at) => 10 * (at + 1)));
  });

  test("or the other kind has the limit of the settings, if there is one", async () => {
    const { done } = await served({ settings: { foreground_auto_await_max_seconds: 240, max_hold_seconds: 90 } });
    const options = { onprogress: () => {} };
    expect((await done("exec", { command: "x" })).result).toMatchObject({ elapsed_seconds: 90 });
    expect((await done("exec", { command: "x" }, options)).result).toMatchObject({ elapsed_seconds: 90 });
  });
});

describe("a client that gives up on a call", () => {
  test("ends the hold and not the process, and what it did not see is shown by the next call", async () => {
    const { call, done, to, session } = await served({ commands: { job: command(lasts(60, every(5, "on\n"))) } });
    const abort = new AbortController();
    const given = call("exec", { command: "job" }, { signal: abort.signal });
    given.catch(() => {});
    await to(7);
    abort.abort("enough");
    await expect(given).rejects.toThrow();
    await to(8);
    expect((await done("process", { action: "list" })).result.processes).toEqual([
      { process_id: "process-1", command: "job", status: "running", elapsed_seconds: 8 },
    ]);
    expect((await done("process", { action: "status", process_id: "process-1" })).result).toMatchObject({
      status: "running",
      output: "on\n",
      offset: 0,
    });
    expect(session.events).toContainEqual(
      expect.objectContaining({ event: "control_returned", at: 7_000, outcome: "cancelled" }),
    );
  });

  test("does not end a stop, which takes its grace", async () => {
    const { call, done, to } = await served({ commands: { stubborn } });
    await done("exec", { command: "stubborn", background: true });
    const abort = new AbortController();
    const given = call("process", { action: "stop", process_id: "process-1" }, { signal: abort.signal });
    given.catch(() => {});
    await to(1);
    abort.abort();
    await to(3);
    expect((await done("process", { action: "status", process_id: "process-1" })).result).toMatchObject({
      status: "terminated",
      signal: "SIGKILL",
      elapsed_seconds: 2,
    });
  });
});

describe("calls side by side", () => {
  test("are each held by a clock of their own, and share one table of processes", async () => {
    const { call, to, done } = await served({ commands: { short: command(lasts(4)), long: command(lasts(9)) } });
    const ends: string[] = [];
    const noted = async (name: string, answer: ReturnType<typeof call>) => {
      const { result } = await answer;
      ends.push(`${name} ${result.process_id} ${result.elapsed_seconds}`);
    };
    const both = [noted("long", call("exec", { command: "long" })), noted("hangs", call("exec", { command: "hangs" }))];
    await to(2);
    both.push(noted("short", call("exec", { command: "short" })));
    await to(3);
    expect((await done("process", { action: "list" })).result.processes).toHaveLength(3);
    await to(40);
    await Promise.all(both);
    expect(ends).toEqual(["short process-3 4", "long process-1 9", "hangs process-2 30"]);
  });

  test("on one process all see its end; a stop ends the wait of another", async () => {
    const { call, to, done } = await served();
    await done("exec", { command: "x", background: true });
    const waits = [1, 2].map(() => call("process", { action: "wait", process_id: "process-1", wait_sec: 600 }));
    await to(20);
    const stopped = call("process", { action: "stop", process_id: "process-1" });
    await to(21);
    expect((await stopped).result).toMatchObject({ status: "terminated" });
    for (const waited of waits) {
      expect((await waited).result).toMatchObject({ status: "terminated", elapsed_seconds: 20, signal: "SIGTERM" });
    }
  });
});

describe("bad input", () => {
  test.each<[string, string, Record<string, unknown>, string]>([
    ["no command", "exec", {}, "command is missing: expected a command line"],
    ["an empty command", "exec", { command: " " }, 'command is " ": expected a command line'],
    ["a command that is none", "exec", { command: ["ls"] }, 'command is ["ls"]: expected a command line'],
    ["a misspelt argument", "exec", { comand: "ls" }, "comand is not an argument of exec; did you mean command?"],
    [
      "a timeout of nothing",
      "exec",
      { command: "ls", timeout: 0 },
      "timeout is 0: expected a number of seconds, more than 0",
    ],
    [
      "two timeouts",
      "exec",
      { command: "ls", timeout: 5, timeout_seconds: 6 },
      "timeout_seconds is 6 and timeout is 5: give one",
    ],
    ["a word for a flag", "exec", { command: "ls", background: "yes" }, 'background is "yes": expected true or false'],
    ["no action", "process", {}, "action is missing: expected wait, status, stop, list or read_output"],
    [
      "an unknown action",
      "process",
      { action: "kill" },
      'action is "kill": expected wait, status, stop, list or read_output',
    ],
    ["no process", "process", { action: "wait" }, "process_id is missing: expected the name of a process"],
    [
      "what names no process",
      "process",
      { action: "wait", process_id: 7 },
      "process_id is 7: expected the name of a process",
    ],
    [
      "an unknown process",
      "process",
      { action: "wait", process_id: "process-99" },
      "process-99 is no process of this session",
    ],
    [
      "a wait of −1",
      "process",
      { action: "wait", process_id: "process-1", wait_sec: -1 },
      "wait_sec is -1: expected a number of seconds, 0 or more",
    ],
    [
      "a wait of NaN",
      "process",
      { action: "wait", process_id: "process-1", wait_sec: Number.NaN },
      "wait_sec is NaN: expected a number of seconds",
    ],
    [
      "a wait that is null",
      "process",
      { action: "wait", process_id: "process-1", wait_sec: null },
      "wait_sec is null: expected a number of seconds",
    ],
    [
      "a wait in words",
      "process",
      { action: "wait", process_id: "process-1", wait_sec: "30" },
      'wait_sec is "30": expected a number of seconds',
    ],
    [
      "a wait beyond all measure",
      "process",
      { action: "wait", process_id: "process-1", wait_sec: 1e300 },
      "wait_sec is 1e+300: expected a number of seconds",
    ],
    [
      "half a byte",
      "process",
      { action: "read_output", process_id: "process-1", offset: 0.5 },
      "offset is 0.5: expected a whole number of bytes",
    ],
    ["a tool that is none", "shell", { command: "ls" }, "there is no tool shell: expected exec or process"],
  ])("%s is answered in the result, with what was expected", async (_, tool, given, says) => {
    const { done, session, faults } = await served();
    await done("exec", { command: "x", background: true });
    const { isError, text } = await done(tool, given);
    expect(isError).toBe(true);
    expect(text).toContain(says);
    expect(session.events.at(-1)).toMatchObject({ event: "call_refused", call: 2, why: text });
    expect((await done("process", { action: "status", process_id: "process-1" })).result.status).toBe("running");
    expect(faults).toEqual([]);
  });

  test("names every fault at once", async () => {
    const { done } = await served();
    const { text } = await done("process", { action: "wait", process_id: "8", wait_sec: "x", wait: 3 });
    expect(text.split("\n").map((line) => line.split(" ")[0])).toEqual(["wait", "process_id", "wait_sec"]);
  });

  test("is none: a second stop, and reading past the end", async () => {
    const { done } = await served({ commands: { it: command(hangs(lines([1, "12345"]))) } });
    await done("exec", { command: "it" });
    const stop = { action: "stop", process_id: "process-1" };
    expect((await done("process", stop)).result.status).toBe("terminated");
    const again = await done("process", stop);
    expect([again.isError, again.result.status]).toEqual([false, "already_exited"]);
    const past = await done("process", { action: "read_output", process_id: "process-1", offset: 1_000 });
    expect(past.result).toMatchObject({ output: "", offset: 5, next_offset: 5 });
    const piece = await done("process", { action: "read_output", process_id: "process-1", offset: 1, limit: 3 });
    expect(piece.result).toMatchObject({ output: "234", offset: 1, next_offset: 4 });
  });
});

test("what a killed runtime left behind is listed as lost; it can be read, and new processes are numbered after it", async () => {
  const bytes = new TextEncoder().encode("half a l");
  const lost = {
    id: processId("process-3")!,
    command: { ...command(hangs()), line: "make" },
    process: {
      startedAt: 0,
      endBy: () => ({ at: 0, by: "nobody", code: null, signal: null }),
      written: () => bytes.length,
      lastOutputAt: () => null,
      quietAt: () => Number.MAX_SAFE_INTEGER,
      read: (from: number, limit: number) => ({
        from,
        bytes: bytes.subarray(from, from + limit),
        written: bytes.length,
        complete: false,
        marks: [],
      }),
      terminate: vi.fn(),
    },
  };
  const { done } = await served({ lost: [lost as never] });
  const { result } = await done("process", { action: "list" });
  expect(result.processes).toEqual([{ process_id: "process-3", command: "make", status: "lost", elapsed_seconds: 0 }]);
  const of = (action: string) => done("process", { action, process_id: "process-3" });
  const waited = await of("wait");
  expect(waited.result).toMatchObject({ status: "lost", exit_code: null, output: "half a l", output_complete: false });
  expect(waited.text).toContain("process-3 is lost");
  expect((await of("stop")).result).toMatchObject({ status: "already_exited" });
  expect((await of("read_output")).result).toMatchObject({ status: "lost", output: "half a l" });
  expect(lost.process.terminate).not.toHaveBeenCalled();
  expect((await done("exec", { command: "x", background: true })).result.process_id).toBe("process-4");
  expect((await done("process", { action: "wait", process_id: "process-2" })).isError).toBe(true);
});

test("what goes wrong on our side is answered too, and the session goes on", async () => {
  const { done, session, faults } = await served();
  const broken = { ...command(hangs()) };
  Object.defineProperty(broken, "length", {
    get() {
      throw new Error("a broken script");
    },
  });
  vi.spyOn(session, "commandOf").mockReturnValueOnce(broken);
  const { isError, text } = await done("exec", { command: "x" });
  expect([isError, text]).toEqual([true, "internal error: a broken script; the session goes on"]);
  expect(faults).toHaveLength(1);
  expect((await done("exec", { command: "y", background: true })).isError).toBe(false);
});
