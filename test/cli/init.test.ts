/** A first panel of one's own: from what was measured, or from what was asked. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runsOf } from "../../src/agent/plan.ts";
import { COLUMNS, type Durations, durationsFrom } from "../../src/cli/durations.ts";
import { Interrupted } from "../../src/cli/exit.ts";
import { firstPanel } from "../../src/cli/firstPanel.ts";
import { asked } from "../../src/cli/init.ts";
import { keyed } from "../../src/random.ts";
import { drawTask, replicateKey } from "../../src/scenario/draw.ts";
import { lintFile } from "../../src/scenario/lint.ts";
import { loadPanel } from "../../src/scenario/load.ts";
import { readStore } from "../../src/telemetry/store.ts";
import type { ScriptedCommand } from "../../src/world/script.ts";
import { root, yieldpoint } from "../program.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "yieldpoint-init-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const table = (name: string, lines: readonly string[]) => writeFileSync(join(folder, name), `${lines.join("\n")}\n`);
const init = (...words: readonly string[]) => yieldpoint(["init", ...words], { cwd: folder, input: "" });

/** The commands that a panel's tasks run in the foreground, in one replicate after the other. */
function drawn(panel: string, replicates: number): readonly ScriptedCommand[] {
  const { source, seed } = loadPanel(panel);
  if (!("population" in source)) throw new Error("a population is wanted");
  const { population } = source;
  return Array.from({ length: replicates * population.tasks }, (_, at) => {
    const key = replicateKey(keyed, seed, 1 + Math.floor(at / population.tasks));
    return drawTask(population, at % population.tasks, keyed, key);
  }).flatMap(({ plan }) =>
    plan.flatMap((step) =>
      [...runsOf(step)].filter((run) => !run.background).map((run) => run.command as ScriptedCommand),
    ),
  );
}

describe("a panel from measured durations", () => {
  const HOSTILE = [
    `it's "so" # {x: [1]}`,
    "</script><b>",
    "'); DROP TABLE trials; --",
    "\u202egnp",
    "- a: &b *c",
    "ü 🚀",
  ];

  test("lints without a fault or a warning, runs, and its commands last as long as those of the table", async () => {
    table("my runs.csv", [
      "command,seconds,exit_code,count,background,timed_out",
      "pytest -q,12.5,0,3,,",
      "pytest -q,700,1,1,no,false",
      ",0.25,,4,,",
      "tail -f log,never,,1,,",
      "make,90,,1,,true",
      "npm run dev,3600,,1,true,",
    ]);
    const { code, stdout, stderr } = init("my runs.csv", "--outer-limit-seconds", "1800");
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toContain("10 commands in the foreground, 1 in the background; 2 never ended");
    expect(stdout).toContain("next: yieldpoint run 'my runs/my-runs.yaml'");
    const panel = join(folder, "my runs", "my-runs.yaml");
    expect(lintFile(panel)).toEqual({ kind: "panel", faults: [], warnings: [] });
    expect(lintFile(join(folder, "my runs", "my-runs-tasks.yaml")).faults).toEqual([]);

    const commands = drawn(panel, 10);
    const shares = new Map<string, number>();
    for (const { line, length, exit } of commands) {
      const key = `${line}|${length === null ? "never" : length / 1_000}|${exit?.code}`;
      shares.set(key, (shares.get(key) ?? 0) + 1 / commands.length);
    }
    const measured = {
      "pytest -q|12.5|0": 0.3,
      "pytest -q|700|1": 0.1,
      "a drawn command|0.25|0": 0.4,
      "tail -f log|never|0": 0.1,
      "make|never|0": 0.1,
    };
    expect([...shares.keys()].sort()).toEqual(Object.keys(measured).sort());
    // Some 8,000 commands: five standard errors of a share of 0.4 are 0.03.
    for (const [key, share] of Object.entries(measured))
      expect(Math.abs(shares.get(key)! - share), key).toBeLessThan(0.03);

    const ran = yieldpoint(["run", panel, "--replicates", "2", "--out", "out"], { cwd: folder });
    expect(ran.stderr).not.toContain("error");
    expect([0, 1]).toContain(ran.code);
    const store = await readStore(join(folder, "out", "experiment.duckdb"));
    const rows = await store.rows<{ readonly command: string }>(
      "SELECT DISTINCT command::VARCHAR AS command FROM shell_invocations ORDER BY command::VARCHAR",
    );
    await store.close();
    expect(rows.map(({ command }) => command)).toEqual(["a drawn command", "make", "pytest -q", "tail -f log"]);
  });

  test("keeps command lines to the letter, whatever stands in them", () => {
    table("hostile.csv", [
      "seconds,command",
      ...HOSTILE.map((line, index) => `${index + 1},"${line.replaceAll('"', '""')}"`),
      `99,"${"a".repeat(10_000)}"`,
    ]);
    expect(init("hostile.csv").code).toBe(0);
    const lines = new Set(drawn(join(folder, "hostile", "hostile.yaml"), 3).map(({ line }) => line));
    expect([...lines].sort()).toEqual([...HOSTILE, "a".repeat(10_000)].sort());
    expect(readFileSync(join(folder, "hostile", "hostile-tasks.yaml"), "utf8")).not.toContain("\u202e");
  });

  test("names its files after the folder, as far as a name may be like it", () => {
    table("plain.csv", ["seconds", "1", "20"]);
    for (const [out, name] of [
      ["2024", "2024"],
      ["true", "true"],
      ["ü ü", "my-panel"],
      ["a b/../c'd", "c-d"],
      ["x".repeat(200), "x".repeat(100)],
    ] as const) {
      mkdirSync(join(folder, "a b"), { recursive: true });
      expect(init("plain.csv", "--out", out).code, out).toBe(0);
      const panel = join(folder, out, `${name}.yaml`);
      expect(loadPanel(panel).panel).toBe(name);
    }
  });

  test("holds every duration of any table as often as it was measured, and shares that add up to one", () => {
    const row = fc.record({
      seconds: fc.option(fc.integer({ min: 0, max: 10_000_000 }).map((milliseconds) => milliseconds / 1_000)),
      line: fc.option(fc.string({ minLength: 1, maxLength: 4 })),
      exit: fc.integer({ min: 0, max: 2 }),
      count: fc.integer({ min: 1, max: 5 }),
      background: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 80 }), (rows) => {
        fc.pre(rows.some(({ background }) => !background));
        const { durations } = durationsFrom(
          {
            columns: ["seconds", "command", "exit_code", "count", "background"],
            rows: rows.map(({ seconds, line, exit, count, background }) => [
              seconds === null ? "never" : String(seconds),
              line,
              String(exit),
              String(count),
              String(background),
            ]),
          },
          "t.csv",
        ) as { durations: Durations };
        const all = rows.flatMap((each) => (each.background ? [] : Array.from({ length: each.count }, () => each)));
        const finite = all.flatMap(({ seconds }) => (seconds === null ? [] : [seconds])).sort((a, b) => a - b);
        const kept = durations.shares.flatMap(({ lasts }) => (lasts === "never" ? [] : (lasts as readonly number[])));
        expect([...kept].sort((a, b) => a - b)).toEqual(finite);
        expect(durations.neverEnded).toBe(all.length - finite.length);
        const total = (some: Durations["shares"]) => some.reduce((sum, { perMillion }) => sum + perMillion, 0);
        expect(total(durations.shares)).toBe(1_000_000);
        const endless = total(durations.shares.filter(({ lasts }) => lasts === "never"));
        expect(Math.abs(endless - (1e6 * durations.neverEnded) / all.length)).toBeLessThan(durations.shares.length + 1);

        const place = join(folder, `any-${readdirSync(folder).length}`);
        mkdirSync(place);
        const tasks = { outerLimitSeconds: 60, commandsPerTask: 3, thinkingSeconds: 0 };
        const beginning = { name: "any", source: "a law", ...tasks, shares: durations.shares, measured: durations };
        for (const { file, text } of firstPanel(beginning)) writeFileSync(join(place, file), text);
        expect(lintFile(join(place, "any.yaml")).faults).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});

describe("what is wrong is said", () => {
  const refused = (...words: readonly string[]) => {
    const before = readdirSync(folder);
    const { code, stdout, stderr } = init(...words);
    expect(code, stderr).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(readdirSync(folder)).toEqual(before);
    return stderr
      .trim()
      .split("\n")
      .map((line) => line.replace(/^error {2}/, ""));
  };

  test("of rows and flags, every fault at once", () => {
    table("bad.csv", [
      "seconds,exitcode,count,background,timed_out,exit_code",
      "30s,,1,,,",
      ",,0,maybe,,300",
      "-1,,1.5,,true,",
      "1e300,,,,,x",
    ]);
    expect(
      refused("bad.csv", "--commands-per-task", "x", "--median-seconds", "3", "--thinking-seconds", "1e12"),
    ).toEqual([
      "--commands-per-task is x: expected a whole number, 1 or more",
      "--thinking-seconds is 1000000000000: expected a number from 0 to 315360000",
      "--median-seconds stands beside bad.csv, which tells it: leave one of them out",
      'bad.csv: "exitcode" is not a column of command durations; did you mean exit_code?',
      'bad.csv: row 2: seconds is "30s": expected a length of time in seconds from 0 to 315360000, or never; write 30',
      "bad.csv: row 3: seconds is empty: expected a length of time in seconds, or never",
      "bad.csv: row 3: count is 0: expected a whole number, 1 or more",
      'bad.csv: row 3: exit_code is "300": expected an exit code from 0 to 255, or nothing where it is not known',
      'bad.csv: row 3: background is "maybe": expected true or false',
      'bad.csv: row 4: seconds is "-1": expected a length of time in seconds from 0 to 315360000, or never',
      'bad.csv: row 4: count is "1.5": expected a whole number, 1 or more',
      'bad.csv: row 5: seconds is "1e300": expected a length of time in seconds from 0 to 315360000, or never',
      'bad.csv: row 5: exit_code is "x": expected an exit code from 0 to 255, or nothing where it is not known',
    ]);
  });

  test("of tables that hold nothing to go by", () => {
    table("headless.csv", ["1.5", "2.5"]);
    table("empty.csv", [COLUMNS.join(",")]);
    table("behind.csv", ["seconds,background", "1,true"]);
    expect(refused("headless.csv").at(-1)).toBe("headless.csv: seconds is missing: expected a column of that name");
    expect(refused("empty.csv")).toEqual(["empty.csv: there are no rows: expected a command in each"]);
    expect(refused("behind.csv")[0]).toMatch(/^behind\.csv: every command is in the background: expected some/);
    expect(refused("nowhere.csv")[0]).toMatch(/^nowhere\.csv does not exist/);
  });

  test("of a folder that is there, and it is left as it is", () => {
    table("taken.csv", ["seconds", "1"]);
    mkdirSync(join(folder, "taken"), { recursive: true });
    writeFileSync(join(folder, "taken", "thesis.txt"), "years of work");
    expect(refused("taken.csv")).toEqual(["taken is there already: name another folder with --out"]);
    expect(readdirSync(join(folder, "taken"))).toEqual(["thesis.txt"]);
    expect(refused("taken.csv", "--out", "no/such/place")[0]).toMatch(/^no\/such\/place cannot be written: .*--out$/);
  });

  test("where there is neither a table nor anybody to ask", () => {
    expect(refused()).toEqual([
      "init needs a CSV file of command durations, a terminal to ask in, or --median-seconds, --p99-seconds, --never-ending",
    ]);
    expect(refused("--median-seconds", "5", "--p99-seconds", "4")).toEqual([
      "--p99-seconds is 4: expected the median of 5 or more",
      "--never-ending is missing: Of 1,000 commands, how many never end?",
    ]);
  });
});

describe("a panel from answers", () => {
  test("that are flags is as they say", () => {
    const words = [
      "--median-seconds",
      "2",
      "--p99-seconds",
      "300",
      "--never-ending",
      "10",
      "--commands-per-task",
      "30",
    ];
    expect(init("--out", "told", ...words).code).toBe(0);
    const panel = join(folder, "told", "told.yaml");
    expect(lintFile(panel)).toEqual({ kind: "panel", faults: [], warnings: [] });
    const commands = drawn(panel, 10);
    const lengths = commands.flatMap(({ length }) => (length === null ? [] : [length / 1_000])).sort((a, b) => a - b);
    expect(commands.length / 400).toBeGreaterThan(26);
    expect(commands.length / 400).toBeLessThan(34);
    expect(lengths[Math.floor(lengths.length / 2)]).toBeCloseTo(2, 0);
    expect(lengths.filter((length) => length > 300).length / lengths.length).toBeCloseTo(0.01, 2);
    expect(1 - lengths.length / commands.length).toBeCloseTo(0.01, 2);
  });

  /** Somebody who answers each question as it comes, and leaves after the last of these answers. */
  const answering = (...lines: readonly string[]) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    let [told, questions] = ["", 0];
    output.on("data", (chunk: Buffer) => {
      told += chunk.toString();
      if (!chunk.toString().includes("? (")) return;
      const answer = lines[questions];
      questions += 1;
      if (answer === undefined) input.end();
      else input.write(`${answer}\n`);
    });
    return { asked: (said: Parameters<typeof asked>[0]) => asked(said, input, output), told: () => told };
  };

  test("asks what no flag has said, takes what is usual for an empty line, and asks again after a wrong one", async () => {
    const { asked, told } = answering("", "many", "12", "3", "2", "400", "0");
    expect(await asked({ "outer-limit-seconds": 900 })).toEqual({
      "outer-limit-seconds": 900,
      "commands-per-task": 20,
      "thinking-seconds": 12,
      "median-seconds": 3,
      "p99-seconds": 400,
      "never-ending": 0,
    });
    expect(told()).not.toContain("harness");
    expect(told()).toContain("expected a number from 0 to 315360000\n");
    expect(told()).toContain("expected a number from 3 to 1000000\n");
  });

  test("that end before the last question is none: nothing is written", async () => {
    await expect(answering("900", "20").asked({})).rejects.toBeInstanceOf(Interrupted);
    expect(existsSync(join(folder, "my-panel"))).toBe(false);
  });
});

test("the README's table is read, and the panel made from it runs frozen", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [, shown] = /```\n(seconds,command,[\s\S]*?)```/.exec(readme)!;
  writeFileSync(join(folder, "durations.csv"), shown!);
  expect(init("durations.csv").stdout).toContain("64 commands in the foreground, 0 in the background; 1 never ended");
  const panel = "durations/durations.yaml";
  expect(yieldpoint(["freeze", panel], { cwd: folder }).code).toBe(0);
  const run = yieldpoint(["run", panel, "--frozen", "--detail", "trials", "--out", "out"], { cwd: folder });
  expect(run.stderr).not.toContain("error");
  expect(run.code).toBe(0);
});
