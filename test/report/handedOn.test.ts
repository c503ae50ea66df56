/** What is handed to a review: a summary in Markdown that no name breaks, and pages without what was typed. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { markdownOf } from "../../src/report/markdown.ts";
import { type Summary, summarise, writeReport } from "../../src/report/report.ts";
import { yieldpoint } from "../program.ts";
import { folder } from "./folder.ts";
import { HOSTILE } from "./hostile.ts";
import { writeSynthetic } from "./synthetic.ts";

const place = folder();

describe("a summary in Markdown", async () => {
  await writeSynthetic(join(place, "usual.duckdb"));
  const usual = await summarise(join(place, "usual.duckdb"));

  test("has the question, each hypothesis with verdict, effect, interval, p and n, and the arms side by side", () => {
    const text = markdownOf(usual);
    expect(text).toMatch(/^# synthetic: What do auto-await and hour-long waits cost/);
    expect(text).toMatch(
      /\| \*\*PASS\*\* \| outer\\_timeout: treatment against control, higher \| \+[\d.]+ points \(95 % .*\) \| p [<=] [\d.]+ \| 10 \|/,
    );
    for (const arm of ["control", "treatment", "budgeted"]) expect(text).toContain(`\n| ${arm} | `);
    expect(text).toContain(`Results ${usual.digest}`);
  });

  test("of a panel that varies something says where the verdict turns, and leaves its many arms to the report", () => {
    const sensitivity = [
      { ...usual.sensitivity[0], sentence: "Outer timeouts are lower in 3 of 4 cells." },
    ] as unknown as Summary["sensitivity"];
    const text = markdownOf({ ...usual, sensitivity });
    expect(text).toContain("## Where the verdict turns\n\n- Outer timeouts are lower in 3 of 4 cells.");
    expect(text).not.toContain("## Arms");
  });

  test("is whole whatever things are called: every table row has its cells, and no name is markup", async () => {
    await writeSynthetic(join(place, "hostile.duckdb"), HOSTILE);
    const summary = await summarise(join(place, "hostile.duckdb"));
    const check = (told: Summary) => {
      const text = markdownOf(told);
      expect(text.length).toBeLessThan(30_000);
      expect(text).not.toMatch(/<(?!br>)|\u202e|[^\P{Cc}\n]/u);
      const rows = text.split("\n").filter((line) => line.startsWith("|"));
      const cells = (row: string) => row.replaceAll(/\\[^ ]/g, "").split("|").length;
      for (const [at, row] of rows.entries()) {
        const head = rows.slice(0, at + 1).findLast((_, before) => rows[before + 1]?.startsWith("| ---"));
        expect(cells(row), row).toBe(cells(head!));
      }
    };
    check(summary);
    const hostile = fc.string({ unit: "binary", maxLength: 60 });
    fc.assert(
      fc.property(hostile, hostile, (arm, question) => {
        const [first] = usual.hypotheses;
        check({
          ...usual,
          question,
          panel: arm,
          arms: { ...usual.arms, [arm]: usual.arms["control"]! },
          hypotheses: [{ ...first!, arm, sentence: question }],
        });
      }),
    );
  });
});

describe("a page with what was typed withheld", () => {
  test("has no byte of any command line, nor of the run's own; the same command is the same everywhere", () => {
    const scenario = join(place, "typed.yaml");
    writeFileSync(
      scenario,
      `scenario: typed\nquestion: Is it withheld?\nouter_limit_seconds: 900\ncommands:\n  secret: { line: "curl -H 'Token: hunter2-s3cret' internal.example", phases: [ { run: { seconds: 30, output: none } } ] }\nplan:\n  - run: secret\n  - run: secret\n  - submit: {}\ngrading: { tests: 1, reward: all_tests, credit: submitted }\n`,
    );
    writeFileSync(
      join(place, "panel.yaml"),
      `panel: typed\nquestion: Is it withheld?\nscenarios: [./typed.yaml]\nreplicates: 2\nfactors: [cap, habit, slice, budget]\narms: [control, treatment, budgeted]\nexhibits: [./typed.yaml]\n`,
    );
    const out = join(place, "typed");
    const run = yieldpoint(["run", join(place, "panel.yaml"), "--out", out, "--detail", "events"]);
    expect(run.code, run.stderr).toBe(0);
    const read = (name: string) => readFileSync(join(out, name), "utf8");
    expect(read("report.html")).toContain("hunter2-s3cret");
    const redacted = [
      yieldpoint(["report", out, "--redact"]),
      yieldpoint(["report", out, "--redact", "--format", "md"]),
    ];
    for (const { code, stdout, stderr } of redacted) {
      expect(code, stderr).toBe(0);
      expect(stdout).not.toContain("hunter2");
    }
    for (const name of ["report.html", "report.md", "summary.json", "junit.xml"]) {
      const text = read(name);
      for (const secret of ["hunter2", "internal.example", "Token:", place])
        expect(text.includes(secret), `${secret} in ${name}`).toBe(false);
      for (const [, base64] of text.matchAll(/base64,([A-Za-z0-9+/=]+)/g))
        expect(Buffer.from(base64!, "base64").toString()).not.toContain("hunter2");
    }
    expect(read("report.html")).toContain("exec     process-1  (withheld)");
  });

  test("shows all else as it is", async () => {
    const [plain, without] = [join(place, "plain.html"), join(place, "without.html")];
    await writeReport(join(place, "usual.duckdb"), plain, { madeAt: new Date(0) });
    await writeReport(join(place, "usual.duckdb"), without, { madeAt: new Date(0), redact: true });
    const svgs = (path: string) => readFileSync(path, "utf8").match(/<svg[\s\S]*?<\/svg>/g)!;
    expect(svgs(without)).toEqual(svgs(plain));
  });
});
