/** Measured trials become arms: what was written comes back, what was not measured stays unknown, and groups are no pairs. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IMPORTABLE, importedFrom, TEMPLATE } from "../../src/cli/imported.ts";
import type { Summary } from "../../src/report/report.ts";
import { readForeign, readStore } from "../../src/telemetry/store.ts";
import { yieldpoint } from "../program.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "yieldpoint-import-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;
function file(lines: readonly string[], ending = "csv"): string {
  made += 1;
  const path = join(folder, `trials-${made}.${ending}`);
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

function imported(path: string, ...more: readonly string[]) {
  const out = join(folder, `out-${made}`);
  const ended = yieldpoint(["import", path, "--out", out, ...more]);
  const read = (name: string) => readFileSync(join(out, name), "utf8");
  return { ...ended, out, read, summary: () => JSON.parse(read("summary.json")) as Summary };
}

const textOf = (page: string) =>
  page
    .slice(page.indexOf("<body>"))
    .replace(/<[^>]*>/g, " ")
    .replaceAll("&#39;", "'")
    .replaceAll("\u00a0", " ")
    .replace(/\s+/g, " ");

describe("the published counts", () => {
  test("9 of 226 against 0 of 113 give the known figures, and the page says why that is thin", () => {
    const found = imported(
      "panels/measured/deepswe-published.csv",
      "--about",
      "panels/measured/deepswe-published.yaml",
    );
    expect(found.code).toBe(0);
    const { hypotheses, arms, source } = found.summary();
    expect(source).toBe("measured");
    expect(hypotheses[0]).toMatchObject({ verdict: "PASS", n: 339 });
    expect(hypotheses[0]!.p).toBeCloseTo(0.032177, 6);
    expect(arms["treatment"]!["outer_timeout"]!.value).toBeCloseTo(9 / 226, 12);
    const text = textOf(found.read("report.html"));
    for (const said of [
      "9 of 226 under treatment (95 % 2.11 to 7.39 %) against 0 of 113 under control (95 % 0.00 to 3.29 %): Fisher's exact test, two-sided, p = 0.0322; one-sided p = 0.0246. That is thin.",
      "All of it rests on 9 events: with one event less where there are more it would be p = 0.0559, with one more where there are fewer p = 0.1741.",
      "Inferred: A run had 113 trials",
      "Inferred: how many trials a run had. For 98 to 113 of them, p lies between 0.0319 and 0.0322.",
      "Measured, not simulated",
    ]) {
      expect(text.includes(said), said).toBe(true);
    }
    const tried = [...text.matchAll(/ (\d+) 9 of (\d+) \([\d. to]+ %\) 0 of (\d+) \([\d. to]+ %\) (0\.\d{6})/g)].map(
      (row) => row.slice(1).map(Number),
    );
    expect(tried.map(([trials]) => trials)).toEqual(Array.from({ length: 16 }, (_, at) => 98 + at));
    for (const [trials, treatment, control, p] of tried) {
      expect([treatment, control]).toEqual([2 * trials!, trials]);
      expect(p).toBeGreaterThan(0.0318);
      expect(p).toBeLessThan(0.0323);
    }
  });
});

describe("pairs", () => {
  const trials = (cut: readonly (readonly [boolean, boolean])[]) => [
    "arm,scenario,outer_timeout,duration_seconds",
    ...cut.flatMap(([control, treatment], at) => [
      `control,t${at},${control},${100 + at}`,
      `treatment,t${at},${treatment},${150 + 2 * at}`,
    ]),
  ];
  const about = (pairs: string) =>
    file(
      [
        "measured: mine",
        "question: Which is cut off more?",
        `pairs: ${pairs}`,
        "hypotheses:",
        "  - { measure: outer_timeout, arm: treatment, against: control, expect: higher }",
        "  - { measure: duration_seconds, arm: treatment, against: control, expect: higher }",
      ],
      "yaml",
    );
  /** Nine pairs in which only treatment is cut off, three in which only control is, eight alike. */
  const cut = [
    ...Array.from({ length: 9 }, () => [false, true] as const),
    ...Array.from({ length: 3 }, () => [true, false] as const),
    ...Array.from({ length: 8 }, () => [false, false] as const),
  ];

  test("of the same scenarios are judged by McNemar's exact test, and means by the t test over scenarios", () => {
    const found = imported(file(trials(cut)), "--about", about("known"));
    expect(found.stderr).toContain("paired by scenario");
    const [timeouts, duration] = found.summary().hypotheses;
    expect(timeouts!.p).toBeCloseTo(0.145996, 6);
    expect(timeouts!.sentence).toContain("McNemar's exact p = 0.15");
    expect(timeouts).toMatchObject({ verdict: "NOT SHOWN", n: 20 });
    expect(timeouts!.minimal_detectable).toBeGreaterThan(0.2);
    expect(duration).toMatchObject({ verdict: "PASS", effect: { value: 59.5 } });
  });

  test("that are unknown are groups: Fisher's exact test, and Welch's for means", () => {
    const [timeouts, duration] = imported(file(trials(cut)), "--about", about("unknown")).summary().hypotheses;
    expect(timeouts!.sentence).toContain("Fisher's exact");
    expect(timeouts!.p).toBeCloseTo(0.0824, 3);
    expect(duration).toMatchObject({ effect: { value: 59.5 } });
    expect(duration!.effect!.high! - duration!.effect!.low!).toBeGreaterThan(10);
  });

  test("of which none differs show nothing, however many they are: that may be luck", () => {
    const rows = Array.from({ length: 12 }, (_, at) => [`control,t${at},false,1`, `treatment,t${at},false,1`]).flat();
    const told = file(
      [
        "measured: mine",
        "question: Is it as good?",
        "hypotheses:",
        "  - { measure: reward, arm: treatment, against: control, expect: not_lower, margin: 0.1 }",
      ],
      "yaml",
    );
    const [reward] = imported(file(["arm,scenario,outer_timeout,reward", ...rows]), "--about", told).summary()
      .hypotheses;
    expect(reward).toMatchObject({ verdict: "NOT SHOWN", effect: { value: 0 } });
    expect(reward!.sentence).toContain("every pair differs by as much, so nothing says how far others might");
  });

  test("are none where an arm lacks a scenario of the other", () => {
    expect(imported(file(trials(cut).slice(0, -1))).stderr).toContain("not paired");
  });
});

describe("a table", () => {
  test("comes back as it was written, and what it does not hold is unknown, never 0", async () => {
    const found = imported(
      file([
        "scenario,arm,outcome,reward,cost_usd,tool_calls",
        '"a ""b"", c",x,submitted,0.5,1.25,7',
        "d,x,outer_timeout,,,",
      ]),
    );
    expect(found.code).toBe(0);
    const store = await readStore(join(found.out, "experiment.duckdb"));
    const rows = await store.rows(
      "SELECT scenario::VARCHAR AS scenario, outcome::VARCHAR AS outcome, outer_timeout, reward, cost_usd::DOUBLE AS cost, tool_calls, duration_seconds, polls FROM trials ORDER BY trial_id",
    );
    await store.close();
    const unknown = { duration_seconds: null, polls: null };
    expect(rows).toEqual([
      {
        scenario: 'a "b", c',
        outcome: "submitted",
        outer_timeout: false,
        reward: 0.5,
        cost: 1.25,
        tool_calls: 7,
        ...unknown,
      },
      {
        scenario: "d",
        outcome: "outer_timeout",
        outer_timeout: true,
        reward: null,
        cost: null,
        tool_calls: null,
        ...unknown,
      },
    ]);
    expect(Object.keys(found.summary().arms["x"]!)).not.toContain("duration_seconds");
  });

  test("of hostile names is shown as text, and breaks nothing", () => {
    const names = [
      `</script><script>window.hacked = 1</script>`,
      `x'); DROP TABLE trials; --`,
      "\u202egnp.evil",
      "a".repeat(10_000),
    ];
    const quoted = names.map((name) => `"${name}"`);
    const found = imported(
      file(["arm,scenario,outer_timeout", ...quoted.flatMap((arm) => quoted.map((task) => `${arm},${task},true`))]),
    );
    expect(found.code, found.stderr).toBe(0);
    expect(Object.keys(found.summary().arms)).toEqual(names);
    const page = found.read("report.html");
    expect(page).not.toContain("<script>window.hacked");
    expect(page).not.toContain("\u202e");
  });

  test("says the same as a Parquet file of the same rows", async () => {
    const csv = file([
      "arm,scenario,attempt,outer_timeout,duration_seconds",
      "a,x,1,true,1.5",
      "b,x,1,false,2",
      "a,y,1,false,",
      "b,y,1,true,4",
    ]);
    const parquet = csv.replace(".csv", ".parquet");
    const store = await (await import("../../src/telemetry/store.ts")).openStore(
      join(folder, "scratch.duckdb"),
      [],
      {},
    );
    await store.rows(`COPY (FROM read_csv('${csv}')) TO '${parquet}' (FORMAT parquet)`);
    await store.close();
    const [one, other] = [imported(csv), imported(parquet)].map((found) => {
      expect(found.code, found.stderr).toBe(0);
      return found.summary();
    });
    expect(other!.digest).toBe(one!.digest);
    rmSync(join(folder, `out-${made}`), { recursive: true });
  });

  test("at fault is refused, every fault at once, and nothing is written", () => {
    const { code, stderr, out } = imported(
      file([
        "arm,scenario,outer_timeout,duration_second,reward,attempt",
        "a,x,maybe,1,2,1",
        ",y,true,-1,0.5,0.5",
        "a,x,true,,,1",
      ]),
    );
    expect(code).toBe(2);
    const lines = stderr
      .trim()
      .split("\n")
      .map((line) => line.replace(/^error {2}.*\.csv: /, ""));
    expect(lines).toEqual([
      '"duration_second" is not a column of measured trials; did you mean duration_seconds?',
      'row 2: outer_timeout is "maybe": expected true or false',
      'row 2: reward is "2": expected a share, 0 to 1',
      "row 2: outer_timeout is empty: expected true or false, or an outcome",
      'row 3: attempt is "0.5": expected a whole number, zero or more',
      "row 3: arm is empty: expected a name",
      'row 4: attempt 1 of "x" under "a" stands in row 2 already: number them',
    ]);
    expect(existsSync(out)).toBe(false);
  });

  test("that is not there, or none, is said so", () => {
    for (const path of [join(folder, "none.csv"), join(folder, "many-*.csv"), folder]) {
      const { code, stderr } = imported(path);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^error {2}.*(does not exist|rename it|cannot be read as a table)/);
      expect(stderr).not.toMatch(/\n\s+at /);
    }
    expect(imported(file(["arm,scenario,outer_timeout"])).stderr).toContain(
      "there are no rows: expected a trial in each",
    );
  });

  test("has a template whose every column is known", () => {
    expect(TEMPLATE.split(",").filter((name) => !Object.hasOwn(IMPORTABLE, name))).toEqual([]);
    expect(yieldpoint(["import", "--template"]).stdout).toBe(`${TEMPLATE}\n`);
  });

  test("of any text is read or refused, never half", () => {
    const cell = fc.oneof(
      fc.constant(null),
      fc.string({ maxLength: 12 }),
      fc.constantFrom("1", "true", "0.5", "-1", "1e9", "x"),
    );
    const columns = fc.uniqueArray(fc.constantFrom(...Object.keys(IMPORTABLE)), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(
        columns,
        fc.array(fc.array(cell, { minLength: 11, maxLength: 11 }), { maxLength: 6 }),
        (more, rows) => {
          const names = [...new Set(["arm", "scenario", "outer_timeout", ...more])];
          const read = importedFrom({ columns: names, rows }, "t.csv", null);
          if ("faults" in read) expect(read.faults.length).toBeGreaterThan(0);
          else expect(read.imported.trials).toHaveLength(rows.length);
        },
      ),
    );
  });
});

test("a table of any names and cells is read as it stands", async () => {
  const plain = fc
    .string({ minLength: 1, maxLength: 8 })
    .filter((text) => /^[^\s"][^"\r\n]*$/.test(text) && text.trim() === text);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(plain, plain), { minLength: 1, maxLength: 6 }), async (cells) => {
      const path = file(["arm,scenario", ...cells.map((row) => row.map((cell) => `"${cell}"`).join(","))]);
      expect(await readForeign(path)).toEqual({ columns: ["arm", "scenario"], rows: cells });
    }),
    { numRuns: 15 },
  );
});
