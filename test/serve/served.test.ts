/** A session from end to end: the official client, `yieldpoint serve`, real commands, and what was written of them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { root } from "../program.ts";
import { aFolder, asked, cleared, ended, isAlive, started } from "./realServer.ts";

afterAll(cleared);

/** Handed back after a second, whatever it is. */
const impatient = {
  foreground_idle_yield_seconds: 1,
  foreground_total_yield_seconds: 1,
  foreground_auto_await_max_seconds: 1,
} as const;

describe.concurrent("a served session", () => {
  test("runs a quick command, hands a slow one back alive, and carries its output and its exit code across", async () => {
    const { call, close, out } = await started({ settings: impatient });
    const quick = await call("exec", { command: "echo out; echo err >&2; exit 3" });
    expect(quick.result).toMatchObject({
      status: "failed",
      exit_code: 3,
      output: "out\nerr\n",
      auto_await_outcome: "not_needed",
    });

    const slow = await call("exec", { command: "echo first; sleep 3; echo second; exit 4" });
    expect(slow.result).toMatchObject({
      status: "running",
      process_id: "process-2",
      exit_code: null,
      output: "first\n",
      auto_await_outcome: "cap_reached",
    });
    expect(slow.result.elapsed_seconds).toBeGreaterThanOrEqual(1);
    const end = await call("process", { action: "wait", process_id: "process-2", wait_sec: 60 });
    expect(end.result).toMatchObject({
      status: "failed",
      process_id: "process-2",
      exit_code: 4,
      output: "second\n",
      offset: 6,
    });
    const piece = await call("process", { action: "read_output", process_id: "process-2", offset: 3, limit: 6 });
    expect(piece.result).toMatchObject({ output: "st\nsec", offset: 3, next_offset: 9, output_complete: true });
    const past = await call("process", { action: "read_output", process_id: "process-2", offset: 99 });
    expect(past.result).toMatchObject({ output: "", next_offset: 13 });

    const leaving = await call("exec", { command: "sleep 600 & echo left it" });
    expect(leaving.result).toMatchObject({ status: "completed", surviving_processes: 1, output_held_open: true });
    expect(leaving.text).toContain("1 process that it had started lives on and may still print");

    const where = await call("exec", { command: "pwd; echo $YIELDPOINT_SESSION", cwd: "/" });
    expect(where.result.output).toMatch(/^\/\nserve-[^\n]+process-4\n$/);
    await close();

    expect(
      await asked(
        out,
        "SELECT command::VARCHAR AS command, kind::VARCHAR AS kind, exit_code, returned_running FROM shell_invocations ORDER BY call_index LIMIT 2",
      ),
    ).toEqual([
      { command: "echo out; echo err >&2; exit 3", kind: "quick", exit_code: 3, returned_running: false },
      { command: "echo first; sleep 3; echo second; exit 4", kind: "quick", exit_code: null, returned_running: true },
    ]);
    expect(
      await asked(out, "SELECT source::VARCHAR AS source, panel, finished_at IS NOT NULL AS finished FROM experiments"),
    ).toEqual([{ source: "measured", panel: "served session", finished: true }]);
    expect(await asked(out, "SELECT profile, budget FROM arms")).toEqual([{ profile: "test 1.2.3", budget: "untold" }]);
    const reported = await ended("report", out);
    expect(reported.stderr).toContain("report.html");
    expect(reported.code).toBe(0);
    const page = readFileSync(join(out, "report.html"), "utf8");
    expect(page).toContain("Measured, not simulated");
    expect(page).not.toContain("Simulated, not measured");
    expect(JSON.parse(readFileSync(join(out, "summary.json"), "utf8"))).toMatchObject({
      source: "measured",
      arms: { "of-the-test": { calls_returned_running: { value: 1 } } },
    });
  });

  test("cuts waits on a hanging command where the reserve begins, and then says how to finish", async () => {
    const { call, close, out } = await started({
      settings: impatient,
      flags: ["--run-budget-seconds", "20", "--finalization-reserve-seconds", "13"],
    });
    const hung = await call("exec", { command: "echo begun; exec sleep 600", background: true });
    expect(hung.result).toMatchObject({ status: "running", auto_await_outcome: null });
    const wait = { action: "wait", process_id: "process-1", wait_sec: 3_600 };
    const cut = await call("process", wait);
    expect(cut.result).toMatchObject({
      status: "running",
      wait_clamped: true,
      clamp_reasons: ["remaining_run_budget"],
      finalization_reserve_seconds: 13,
    });
    expect(cut.result.effective_wait_seconds).toBeLessThanOrEqual(7);
    expect(cut.result.remaining_run_seconds).toBeGreaterThan(12);
    const late = await call("process", wait);
    expect(late.result).toMatchObject({
      status: "running",
      effective_wait_seconds: 0,
      guidance: { code: "finalization_reserve" },
    });
    expect((await call("process", { action: "stop", process_id: "process-1" })).result).toMatchObject({
      status: "terminated",
      signal: "SIGTERM",
    });
    expect((await call("process", { action: "read_output", process_id: "process-1" })).result).toMatchObject({
      output: "begun\n",
    });
    await close();
    expect(
      await asked(
        out,
        "SELECT wait_clamp_reasons::VARCHAR[] AS reasons, guided, remaining_run_seconds_before IS NOT NULL AS told FROM process_waits WHERE action = 'wait' ORDER BY call_index",
      ),
    ).toEqual([
      { reasons: ["remaining_run_budget"], guided: true, told: true },
      { reasons: ["remaining_run_budget"], guided: true, told: true },
    ]);
    expect(
      await asked(
        out,
        "SELECT outcome::VARCHAR AS outcome, budget_clamped_process_wait_count AS clamped, held_in_reserve_seconds < 1 AS kept FROM trials",
      ),
    ).toEqual([{ outcome: "ended", clamped: 2, kept: true }]);
  });

  test("answers a client with default options before it gives up, without a word of progress", async () => {
    // The 60 s of the official client and the 50 s of this server, scaled down with the policy.
    const { call, close } = await started({
      settings: { ...impatient, foreground_auto_await_max_seconds: 30 },
      flags: ["--max-hold-seconds", "5"],
    });
    const options = { timeout: 9_000 };
    const held = await call("exec", { command: "sleep 9; echo done" }, options);
    expect(held.result).toMatchObject({ status: "running", clamp_reasons: ["client_call_limit"] });
    const waited = await call("process", { action: "wait", process_id: "process-1", wait_sec: 600 }, options);
    expect(waited.result).toMatchObject({ status: "completed", output: "done\n", effective_wait_seconds: 5 });
    await close();
  });

  test("holds a client that resets its timeout on progress for the whole cap", async () => {
    const { call, close } = await started({ settings: { ...impatient, foreground_auto_await_max_seconds: 13 } });
    const heard: number[] = [];
    const held = await call(
      "exec",
      { command: "sleep 600" },
      {
        timeout: 12_000,
        resetTimeoutOnProgress: true,
        onprogress: ({ progress }) => void heard.push(progress),
      },
    );
    expect(held.result).toMatchObject({ status: "running", auto_await_outcome: "cap_reached", clamp_reasons: [] });
    expect(held.result.elapsed_seconds).toBeGreaterThanOrEqual(13);
    expect(heard).toHaveLength(1);
    await close();
  });

  test("answers bad input in results, and lives on", async () => {
    const { call, close, client } = await started({ settings: impatient, flags: ["--max-hold-seconds", "none"] });
    await call("exec", { command: "sleep 600", background: true });
    const wait = (more: object) => call("process", { action: "wait", process_id: "process-1", ...more });
    // What is not a number in JavaScript is null in JSON.
    for (const given of [{ process_id: "process-7" }, { wait_sec: -1 }, { wait_sec: Number.NaN }, { wait_sec: "30" }]) {
      expect(await wait(given)).toMatchObject({ isError: true, text: expect.stringMatching(/expected|names them/) });
    }
    expect(await call("exec", {})).toMatchObject({
      isError: true,
      text: "command is missing: expected a command line",
    });
    await expect(client.callTool({ name: "exec", arguments: "ls" as never })).rejects.toThrow();
    const stop = { action: "stop", process_id: "process-1" };
    expect((await call("process", stop)).result.status).toBe("terminated");
    expect(await call("process", stop)).toMatchObject({ isError: false, result: { status: "already_exited" } });
    expect((await wait({ wait_sec: 1e9 })).result).toMatchObject({
      clamp_reasons: ["process_poll_max_wait"],
      effective_wait_seconds: 3_600,
    });
    expect((await call("exec", { command: "echo alive" })).result.output).toBe("alive\n");
    await close();
  });

  test("takes calls side by side, and a client that gives up on one stops nothing", async () => {
    const { call, close } = await started({ settings: { ...impatient, foreground_auto_await_max_seconds: 20 } });
    const abort = new AbortController();
    const given = call("exec", { command: "sleep 600" }, { signal: abort.signal });
    const began = Date.now();
    const [two, three, list] = await Promise.all([
      call("exec", { command: "sleep 2; echo two" }),
      call("exec", { command: "sleep 2; echo three" }),
      call("process", { action: "list" }),
    ]);
    expect([two.result.output, three.result.output]).toEqual(["two\n", "three\n"]);
    expect(Date.now() - began).toBeLessThan(3_900);
    expect(list.result.processes).toHaveLength(3);
    abort.abort();
    await expect(given).rejects.toThrow();
    expect((await call("process", { action: "status", process_id: "process-1" })).result).toMatchObject({
      status: "running",
    });
    await close();
  });
});

describe.concurrent("the end of a session", () => {
  /** A session with one process, of which the test knows the number. */
  async function withProcess(folder?: string) {
    const server = await started({ settings: impatient, ...(folder === undefined ? {} : { folder }) });
    const { result } = await server.call("exec", { command: "echo $$; exec sleep 600" });
    return { ...server, child: Number(result.output) };
  }

  test.each([
    ["SIGTERM", 0],
    ["SIGINT", 130],
    ["SIGHUP", 0],
  ] as const)("by %s ends what it has started and writes everything; exit code %i", async (signal, code) => {
    const folder = aFolder();
    const out = join(folder, "session");
    const child = spawn(process.execPath, [join(root, "dist/cli/main.js"), "serve", "--out", out], {
      cwd: folder,
      stdio: "pipe",
    });
    const answers = readLines(child.stdout);
    const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    send({
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "0" } },
    });
    await answers.next();
    send({ method: "notifications/initialized" });
    send({
      id: 2,
      method: "tools/call",
      params: { name: "exec", arguments: { command: "echo $$; exec sleep 600", background: true } },
    });
    await answers.next();
    send({
      id: 3,
      method: "tools/call",
      params: { name: "process", arguments: { action: "wait", process_id: "process-1", wait_sec: 600 } },
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const pid = Number(readFileSync(join(out, "processes/process-1.log"), "utf8"));
    expect(isAlive(pid)).toBe(true);
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([code, null]);
    expect(isAlive(pid)).toBe(false);
    expect(await asked(out, "SELECT process_status_after_wait::VARCHAR AS status FROM process_waits")).toEqual([
      { status: "cut_off" },
    ]);
    expect(await asked(out, "SELECT profile, processes_left_running AS leaves FROM arms, trials")).toEqual([
      { profile: "raw 0", leaves: 1 },
    ]);
  });

  test("of its input is one too, and leaves no process behind", async () => {
    const { child, close, out, pid } = await withProcess();
    expect(isAlive(child)).toBe(true);
    await close();
    expect([isAlive(child), isAlive(pid)]).toEqual([false, false]);
    expect(
      await asked(out, "SELECT outcome::VARCHAR AS outcome, processes_left_running AS leaves FROM trials"),
    ).toEqual([{ outcome: "ended", leaves: 1 }]);
    expect(JSON.parse(readFileSync(join(out, "manifest.json"), "utf8"))).toMatchObject({
      made_by: "yieldpoint",
      source: "measured",
      policy: "of-the-test",
    });
  });

  test("is over within the patience of its client, whatever its processes say to TERM; how they die is told to the end", async () => {
    const { call, close, out, gone } = await started({ settings: impatient });
    const crash = await call("exec", { command: "kill -VTALRM $$" });
    expect(crash.result).toMatchObject({ status: "failed", signal: "SIGVTALRM" });
    const { result } = await call("exec", { command: "trap '' TERM; echo $$; while :; do sleep 1; done" });
    const began = Date.now();
    await close();
    await gone;
    // The official client sends TERM after 2 s and KILL after 4 s.
    expect(Date.now() - began).toBeLessThan(4_000);
    expect(isAlive(Number(result.output))).toBe(false);
    expect(await asked(out, "SELECT signal::VARCHAR AS signal FROM shell_invocations WHERE call_index = 1")).toEqual([
      { signal: "SIGVTALRM" },
    ]);
  });

  test("by SIGKILL leaves its processes to the next session in the same folder, which ends them and lists them as lost", async () => {
    const folder = aFolder();
    const first = await withProcess(folder);
    process.kill(first.pid, "SIGKILL");
    await first.gone;
    expect(isAlive(first.child)).toBe(true);
    expect(existsSync(join(first.out, "experiment.duckdb"))).toBe(false);

    const second = await started({ settings: impatient, folder });
    expect(isAlive(first.child)).toBe(false);
    expect((await second.call("process", { action: "list" })).result.processes).toMatchObject([
      { process_id: "process-1", command: "echo $$; exec sleep 600", status: "lost" },
    ]);
    const read = await second.call("process", { action: "read_output", process_id: "process-1" });
    expect(read.result).toMatchObject({ status: "lost", output: `${first.child}\n`, output_complete: false });
    expect((await second.call("exec", { command: "true" })).result.process_id).toBe("process-2");
    expect(second.said()).toContain("a runtime was killed here before");
    await second.close();
    expect(existsSync(join(second.out, "experiment.duckdb"))).toBe(true);
  });

  test("has to come before another session can have its folder", async () => {
    const { close, out } = await withProcess();
    const refused = await ended("serve", "--out", out);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/is in use: .*name another folder with --out/);
    await close();
    expect(readdirSync(out)).toContain("experiment.duckdb");
  });
});

/** Lines of a stream, one by one. */
async function* readLines(stream: NodeJS.ReadableStream): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of stream) {
    const lines = (rest + String(piece)).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
}
