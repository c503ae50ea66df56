import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_DEFINITION } from "../../src/report/definition.ts";
import { MEASURES } from "../../src/report/measures.ts";
import { ReportError, type Summary, summarise, writeReport } from "../../src/report/report.ts";
import { measureNames } from "../../src/scenario/measures.ts";
import { ecdf } from "../../src/stats/ecdf.ts";
import { readStore } from "../../src/telemetry/store.ts";
import { folder } from "./folder.ts";
import { HOSTILE, HOSTILE_ARMS } from "./hostile.ts";
import { crossedArms, PROVIDER, type Synthetic, THREE_ARMS, writeSynthetic } from "./synthetic.ts";

const place = folder();
const madeAt = new Date("2026-11-30T18:00:00Z");

interface Made {
  readonly database: string;
  readonly page: string;
  readonly summary: Summary;
}

let made = 0;
async function make(options: Synthetic = {}, definition?: string): Promise<Made> {
  made += 1;
  const database = join(place, `${made}.duckdb`);
  const path = join(place, `${made}.html`);
  await writeSynthetic(database, options);
  const summary = await writeReport(database, path, { madeAt, ...(definition === undefined ? {} : { definition }) });
  return { database, page: readFileSync(path, "utf8"), summary };
}

const scriptsIn = (page: string) => [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, source]) => source!);
/** What the page says besides its scripts and the data of its charts. */
const withoutScripts = (page: string) => page.replace(/<script[\s\S]*?<\/script>/g, "");
const textOf = (markup: string) =>
  markup
    .replace(/<[^>]*>/g, " ")
    .replaceAll("\u00a0", " ")
    .replace(/\s+/g, " ");

/** Of some texts those that are not there: a page is too long to be printed with each failure. */
const missing = (where: string, ...texts: readonly string[]) => texts.filter((text) => !where.includes(text));

/** The end of an interval, to eight digits of how far it reaches, or five behind the point. */
const near = (expected: number, reach: number) => (value: number) =>
  Math.abs(value - expected) <= Math.max(1e-5, 1e-8 * reach);

let usual: Made;
beforeAll(async () => {
  usual = await make();
});

describe("a page", () => {
  test("of a panel that varies nothing has no cells, nor does its summary", () => {
    expect(usual.summary.sensitivity).toEqual([]);
    expect(usual.page).not.toContain("Where the verdict turns");
  });

  test("has the same bytes each time, but for when it was made", async () => {
    const again = join(place, "again.html");
    await writeReport(usual.database, again, { madeAt });
    expect(readFileSync(again, "utf8") === usual.page).toBe(true);
    await writeReport(usual.database, again, { madeAt: new Date("2027-01-01T00:00:00Z") });
    const stamp = /<time datetime="[^"]*">[^<]*<\/time>/;
    expect(readFileSync(again, "utf8").replace(stamp, "") === usual.page.replace(stamp, "")).toBe(true);
  });

  test("allows its own scripts by their hashes, and nothing else", () => {
    const csp = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(usual.page)![1]!.replaceAll("&#39;", "'");
    const hashes = scriptsIn(usual.page).map(
      (source) => `'sha256-${createHash("sha256").update(source).digest("base64")}'`,
    );
    expect(hashes).toHaveLength(4);
    expect(csp.split("; ")).toEqual([
      "default-src 'none'",
      `script-src ${hashes.join(" ")}`,
      "style-src 'unsafe-inline'",
      "img-src data:",
      "base-uri 'none'",
      "form-action 'none'",
    ]);
  });

  test("is one file: nothing in it points outside", () => {
    const rest = withoutScripts(usual.page).replaceAll(/ xmlns(:xlink)?="[^"]*"/g, "");
    expect(rest.match(/https?:|\/\/[a-z0-9-]+\.[a-z]/i)).toBeNull();
    expect(rest.match(/<(?:link(?! rel="icon" href="data:,")|iframe|object|embed|img|base)\b/)).toBeNull();
    expect(rest.match(/@import|url\((?!#)/)).toBeNull();
    expect(
      [...rest.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, to]) => to).filter((to) => !/^(#|data:,$)/.test(to!)),
    ).toEqual([]);
  });

  test("stays under 3 MB", () => {
    expect(usual.page.length).toBeLessThan(3e6);
  });

  test("has a table behind every chart, as many rows as the chart has, and says so", () => {
    const data = JSON.parse(/id="chart-data">(.*?)<\/script>/s.exec(usual.page)![1]!) as {
      charts: Record<string, { rows: unknown[] }>;
    };
    const figures = [...usual.page.matchAll(/<figure class="chart" id="chart-([^"]*)"[\s\S]*?<\/figure>/g)];
    expect(figures.map(([, name]) => name).sort()).toEqual(Object.keys(data.charts).sort());
    expect(figures.length).toBeGreaterThanOrEqual(9);
    for (const [markup, name] of figures) {
      const rows = data.charts[name!]!.rows.length;
      expect(missing(markup, `The data behind it, ${rows.toLocaleString("en")} rows`)).toEqual([]);
      expect([...markup.matchAll(/<tbody>([\s\S]*)<\/tbody>/g)][0]![1]!.match(/<tr>/g)).toHaveLength(rows);
      expect(markup.match(/<svg /g)).toHaveLength(2);
    }
  });

  test("has no id twice, and every reference to one has its target", () => {
    const rest = withoutScripts(usual.page);
    const ids = [...rest.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!);
    expect(new Set(ids).size).toBe(ids.length);
    const wanted = [...rest.matchAll(/(?:href="#|url\(#|aria-labelledby=")([^")]+)/g)].map(([, id]) => id!);
    expect(wanted.filter((id) => !ids.includes(id))).toEqual([]);
  });

  test("gives every colour of a chart its counterpart on a dark page", () => {
    const drawn = [...usual.page.matchAll(/<div class="still[^"]*">(<svg[\s\S]*?<\/svg>)/g)]
      .map(([, svg]) => svg!)
      .join("");
    const colours = new Set([...drawn.matchAll(/(?:fill|stroke)="(#[^"]*|[a-z]+)"/g)].map(([, colour]) => colour!));
    for (const colour of colours) {
      if (colour !== "none" && colour !== "transparent")
        expect(missing(usual.page, `.drawing [fill="${colour}"]{fill:#`)).toEqual([]);
    }
    expect(colours.size).toBeGreaterThan(8);
  });

  test("draws each arm in one colour throughout", () => {
    const data = /id="chart-data">(.*?)<\/script>/s.exec(usual.page)![1]!;
    const scales = [...data.matchAll(/"domain":\["control","treatment","budgeted"\],"range":(\["#[^\]]*\])/g)].map(
      ([, range]) => range,
    );
    expect(scales.length).toBeGreaterThan(8);
    expect(new Set(scales).size).toBe(1);
  });

  test("says in words what it cannot: the question, the verdict, the limits, how it was made", () => {
    const text = textOf(withoutScripts(usual.page));
    const said = [
      "What do auto-await and hour-long waits cost, and what do slices and a reserve repair?",
      "Of 20 trials in a replicate, control loses 0.0, treatment 1.3, budgeted 0.0 to the outer limit",
      "Simulated, not measured",
      "The figures come from a few lines of arithmetic.",
      "What this panel cannot show",
      "Arms differ in cap, habit, slice and budget at once",
      "yieldpoint run panels/synthetic.yaml",
      usual.summary.digest,
    ];
    expect(missing(text, ...said)).toEqual([]);
    expect(usual.page.match(/<\/svg>PASS</g)).toHaveLength(3);
  });

  test("shows the journals of an exhibit side by side, and where the outer limit was", () => {
    expect(missing(usual.page, "  552.000  held     process-1  until 4152.000\n")).toEqual([]);
    expect(missing(usual.page, " 5400.000  cut off</pre>")).toEqual([]);
    expect(usual.page.match(/<section class="journal"/g)).toHaveLength(3);
    expect(missing(usual.page, "The line on the right is the outer limit")).toEqual([]);
  });
});

describe("the figures", () => {
  test("are those that SQL gives, with the textbook t interval on replicates' means", async () => {
    const t = 2.262157162740992; // 0.975, 9 degrees of freedom
    const seen = new Set<string>();
    const tables = await readStore(usual.database);
    try {
      for (const { measure, sql, kind, quantile, signed, derived } of MEASURES) {
        if (derived) continue;
        const value =
          kind === "quantile"
            ? `(SELECT t.arm::VARCHAR AS arm, t.replicate, quantile_cont(time_to_first_control_seconds::DOUBLE, ${quantile}) AS m
                FROM shell_invocations JOIN trials AS t USING (trial_id) WHERE ${sql} GROUP BY ALL)`
            : `(SELECT arm::VARCHAR AS arm, replicate, ${kind === "mean per trial" ? "avg" : "sum"}((${sql})::DOUBLE) AS m FROM trials
                GROUP BY ALL HAVING count(*) = count(${sql}))`;
        const arms = await tables.rows<{ arm: string; mean: number; error: number }>(
          `SELECT arm, avg(m) AS mean, stddev_samp(m) / sqrt(10) AS error FROM ${value} GROUP BY ALL HAVING count(*) = 10`,
        );
        for (const { arm, mean, error } of arms) {
          seen.add(`${arm} ${measure}`);
          const figure = usual.summary.arms[arm]![measure]!;
          expect(figure.value).toBeCloseTo(mean, 6);
          expect(figure.low!).toSatisfy(near(signed ? mean - t * error : Math.max(mean - t * error, 0), t * error));
          expect(figure.n).toBe(10);
        }
        const differences = await tables.rows<{ arm: string; mean: number; error: number; relative: number }>(
          `SELECT a.arm, avg(a.m - c.m) AS mean, stddev_samp(a.m - c.m) / sqrt(10) AS error, avg(a.m) / avg(c.m) - 1 AS relative
           FROM ${value} AS a JOIN ${value} AS c USING (replicate) WHERE c.arm = 'control' AND a.arm <> 'control' GROUP BY ALL HAVING count(*) = 10`,
        );
        for (const { arm, mean, error, relative } of differences) {
          const figure = usual.summary.differences[arm]![measure]!;
          expect(figure.against).toBe("control");
          expect(figure.value).toBeCloseTo(mean, 6);
          expect(figure.low!).toSatisfy(near(mean - t * error, t * error));
          expect(figure.high!).toSatisfy(near(mean + t * error, t * error));
          if (figure.relative !== undefined) expect(figure.relative.value).toBeCloseTo(relative, 6);
        }
      }
    } finally {
      await tables.close();
    }
    // Those of the budget's first signal are there only for trials in which there was one.
    const partial = ["first_budget_signal_seconds", "budget_signal_lead_seconds"];
    const whole = measureNames.filter((name) => !partial.includes(name));
    expect(seen.size).toBe(3 * whole.length);
    expect(Object.keys(usual.summary.arms["control"]!).sort()).toEqual([...whole].sort());
    expect(usual.summary.arms["budgeted"]).toMatchObject({
      first_budget_signal_seconds: { value: 1 },
      budget_signal_lead_seconds: { value: 5_399 },
    });
  });

  test("of messages stand in the page where any was sent, and in the summary always", async () => {
    const [control, treatment, budgeted] = THREE_ARMS;
    const { summary, page } = await make({ arms: [control!, treatment!, { ...budgeted!, notices: 2 }] });
    const all = ["completion notices", "failed deliveries"];
    expect(missing(usual.page, ...all)).toEqual(all);
    expect(missing(page, ...all)).toEqual(["failed deliveries"]);
    expect(summary.arms["budgeted"]).toMatchObject({ notices: { value: 2 }, failed_deliveries: { value: 0 } });
    expect(summary.differences["budgeted"]).toMatchObject({ notices: { value: 2, against: "control" } });
  });

  test("of a run in which nobody counts tokens leave out what tokens cost, and so does the page", async () => {
    const { summary, page } = await make({ provider: false });
    const absent = MEASURES.filter(({ group }) => group === "Cost").map(({ measure }) => measure);
    expect(absent).toHaveLength(11);
    expect(Object.keys(summary.arms["control"]!).filter((measure) => absent.includes(measure))).toEqual([]);
    expect(summary.arms["control"]).toHaveProperty("provider_calls");
    expect(missing(page, "pause tax")).toEqual(["pause tax"]);
    expect(page.match(/id="cost"|href="#cost"|id="chart-tokens"/)).toBeNull();
    expect(usual.page.match(/<section id="cost"/g)).toHaveLength(1);
    expect(missing(usual.page, '<a href="#cost">Cost</a>', 'id="chart-tokens"', 'id="chart-cost"')).toEqual([]);
  });

  test("of the classes of tokens add up to all tokens, and their costs to the cost", () => {
    const data = JSON.parse(/id="chart-data">(.*?)<\/script>/s.exec(usual.page)![1]!);
    for (const { arm } of THREE_ARMS) {
      const own = (chart: string) => data.charts[chart].rows.filter((row: { arm: string }) => row.arm === arm);
      const sum = (rows: readonly Record<string, number>[], of: string) =>
        rows.reduce((total, row) => total + row[of]!, 0);
      const figures = usual.summary.arms[arm]!;
      expect(sum(own("tokens"), "tokens")).toBeCloseTo(figures["tokens"]!.value, 6);
      expect(sum(own("cost"), "cost_usd")).toBeCloseTo(figures["cost_usd"]!.value, 4);
      expect(sum(own("cost"), "share")).toBeCloseTo(1, 3);
      const tax = own("cost").find((row: { class: string }) => row.class === "pause tax");
      expect(tax.cost_usd).toBeCloseTo(figures["pause_tax_usd"]!.value, 9);
    }
  });

  test("of cost are told in sentences, with what polls and pauses make of them", () => {
    const text = textOf(withoutScripts(usual.page));
    const { tokens, cost_usd, pause_tax_usd } = usual.summary.arms["treatment"]! as Record<string, { value: number }>;
    expect(missing(text, `${Math.round(tokens!.value).toLocaleString("en")} tokens under treatment`)).toEqual([]);
    expect(missing(text, `${cost_usd!.value.toFixed(3)} USD under treatment`)).toEqual([]);
    expect(missing(text, `${pause_tax_usd!.value.toFixed(4)} USD`, "pauses that outlived the cache make")).toEqual([]);
  });

  test("stand in the page as they stand in the summary", () => {
    const { value, low, high } = usual.summary.arms["treatment"]!["duration_seconds"]!;
    const text = textOf(usual.page);
    const whole = (seconds: number) => Math.round(seconds).toLocaleString("en");
    expect(missing(text, `${whole(value)} s ${whole(low!)} to ${whole(high!)}`)).toEqual([]);
    for (const { sentence } of usual.summary.hypotheses) {
      const effect = /is ([+−][\d,.]+)/.exec(sentence)![1]!;
      expect(missing(text, `${effect} ${sentence.includes("points") ? "points" : "s"} 95 %`)).toEqual([]);
    }
  });

  test("of the time ledger add up to the mean duration", () => {
    const data = JSON.parse(/id="chart-data">(.*?)<\/script>/s.exec(usual.page)![1]!);
    for (const { arm } of THREE_ARMS) {
      const parts = data.charts.ledger.rows.filter((row: { arm: string }) => row.arm === arm);
      const sum = parts.reduce((total: number, row: { seconds: number }) => total + row.seconds, 0);
      expect(sum).toBeCloseTo(usual.summary.arms[arm]!["duration_seconds"]!.value, 6);
    }
  });

  test("of the first-control lines are steps of the empirical distribution, censored calls among all", async () => {
    const data = JSON.parse(/id="chart-data">(.*?)<\/script>/s.exec(usual.page)![1]!);
    const tables = await readStore(usual.database);
    try {
      const calls = await tables.rows<{ seconds: number | null }>(
        `SELECT time_to_first_control_seconds AS seconds FROM shell_invocations JOIN trials AS t USING (trial_id)
         WHERE t.arm = 'treatment' AND shell_invocations.kind = 'hanging'`,
      );
      const values = calls.flatMap(({ seconds }) => (seconds === null ? [] : [seconds]));
      const censored = calls.length - values.length;
      expect(censored).toBeGreaterThan(0);
      const steps = new Map(ecdf(values, censored, values.length + 1).map(({ x, share }) => [x, share]));
      const line = data.charts["first-control"].rows.filter(
        (row: { arm: string; kind: string; share: number }) =>
          row.arm === "treatment" && row.kind === "hanging" && row.share > 0,
      );
      for (const { seconds, share } of line)
        expect(steps.get(seconds) ?? 1 - censored / calls.length).toBeCloseTo(share, 12);
      expect(Math.max(...line.map(({ share }: { share: number }) => share))).toBeCloseTo(
        1 - censored / calls.length,
        12,
      );
    } finally {
      await tables.close();
    }
  });

  test("are had without the page, too", async () => {
    expect(await summarise(usual.database)).toEqual(usual.summary);
  });

  test("go by the names that a panel may use", () => {
    const own = MEASURES.filter(({ derived }) => !derived).map(({ measure }) => measure);
    expect(own.sort()).toEqual([...measureNames].sort());
  });

  test("have a summary that JSON keeps as it is", () => {
    expect(JSON.parse(JSON.stringify(usual.summary))).toEqual(usual.summary);
    expect(usual.summary).toMatchObject({
      experiment: "synthetic",
      panel: "synthetic",
      complete: true,
      needs_detail: [],
    });
    expect(usual.summary.digest).toMatch(/^[0-9a-f]{16}$/);
  });
});

describe("a hypothesis", () => {
  const judge = async (hypotheses: readonly object[], options: Synthetic = {}) =>
    (await make({ ...options, hypotheses })).summary.hypotheses.map(({ verdict, sentence, effect }) => ({
      verdict,
      sentence,
      effect,
    }));

  test("passes, fails, or is not shown, and says why in one sentence", async () => {
    const [pass, fail, open] = await judge([
      { measure: "duration_seconds", arm: "treatment", against: "control", expect: "higher" },
      { measure: "duration_seconds", arm: "treatment", against: "control", expect: "lower" },
      { measure: "reward", arm: "budgeted", against: "control", expect: "higher" },
    ]);
    expect(pass).toMatchObject({ verdict: "PASS" });
    expect(pass!.sentence).toMatch(
      /^Duration, treatment against control: higher, as declared\. The difference is \+\d+ s, or \+\d+ % \(95 % \+\d+ to \+[\d,]+; Holm p < 0\.001; 10 replicates\)\.$/,
    );
    expect(fail).toMatchObject({ verdict: "FAIL", sentence: expect.stringContaining("declared lower, found higher") });
    expect(open).toMatchObject({
      verdict: "NOT SHOWN",
      sentence: expect.stringContaining("declared higher, not shown"),
    });
  });

  test("within a margin passes where the whole interval lies within it, and fails where it lies beyond", async () => {
    const told = await judge([
      { measure: "reward", arm: "budgeted", against: "treatment", expect: "not_lower", margin: 0.01 },
      { measure: "duration_seconds", arm: "treatment", against: "control", expect: "not_higher", margin: 0.1 },
      {
        measure: "duration_seconds",
        arm: "treatment",
        against: "control",
        expect: "not_higher",
        margin_absolute: 10_000,
      },
      { measure: "total_process_wait_seconds", arm: "budgeted", against: "treatment", expect: "lower", by: 0.5 },
      { measure: "wait_actions", arm: "budgeted", against: "control", expect: "lower", by: 0.8 },
    ]);
    expect(told.map(({ verdict }) => verdict)).toEqual(["PASS", "FAIL", "PASS", "PASS", "FAIL"]);
    expect(told.map(({ sentence }) => sentence.split(". ")[0])).toEqual([
      "Reward, budgeted against treatment: at most 1 % lower, as declared",
      "Duration, treatment against control: declared at most 10 % higher, found higher than that",
      "Duration, treatment against control: at most 10,000 s higher, as declared",
      "Process waits, budgeted against treatment: at least 50 % lower, as declared",
      "Wait and status calls per replicate, budgeted against control: declared at least 80 % lower, found to fall short of it",
    ]);
    expect(told[3]!.sentence).toMatch(
      /^.*The difference is −[\d,]+ s, or −\d+ % \(95 % −\d+ % to −\d+ %; Holm p < 0\.001; 10 replicates\)\.$/,
    );
    expect(told[3]!.effect).toHaveProperty("relative");
    expect(told[2]!.effect).not.toHaveProperty("relative");
  });

  test("of one kind of trials looks at these alone", async () => {
    const { database, summary, page } = await make({
      hypotheses: [
        { measure: "duration_seconds", arm: "treatment", against: "control", expect: "higher", kind: "hanging" },
        {
          measure: "duration_seconds",
          arm: "treatment",
          against: "control",
          expect: "not_higher",
          margin: 0.01,
          kind: "quick",
        },
        {
          measure: "calls_returned_running",
          arm: "control",
          against: "treatment",
          expect: "higher",
          kind: "long_finite",
        },
      ],
    });
    const tables = await readStore(database);
    const [row] = await tables.rows<{ difference: number }>(
      `SELECT avg(t.duration_seconds - c.duration_seconds)::DOUBLE AS difference
       FROM trials AS t JOIN trials AS c USING (pair_key) WHERE t.arm = 'treatment' AND c.arm = 'control' AND t.kind = 'hanging'`,
    );
    await tables.close();
    const [hanging, quick, running] = summary.hypotheses;
    expect(hanging).toMatchObject({
      verdict: "PASS",
      kind: "hanging",
      sentence: expect.stringContaining("Duration in hanging trials, "),
    });
    expect(hanging!.effect!.value).toBeCloseTo(row!.difference, 6);
    expect(quick).toMatchObject({ verdict: "PASS", effect: { value: 0, low: 0, high: 0 }, margin: 0.01 });
    expect(running).toMatchObject({ verdict: "PASS" });
    expect(running!.effect!.value).toBeGreaterThan(1);
    expect(
      missing(textOf(page), "Duration in hanging trials, treatment against control : higher, as declared."),
    ).toEqual([]);
    // What is estimated of all trials is what it was.
    expect(summary.arms).toEqual(usual.summary.arms);
  });

  test("of a zero counts trials, and needs no other arm", async () => {
    const { summary, page } = await make({
      hypotheses: [
        { measure: "held_in_reserve_seconds", arm: "budgeted", expect: "zero" },
        { measure: "held_in_reserve_seconds", arm: "treatment", expect: "zero" },
        { measure: "held_in_reserve_seconds", arm: "treatment", expect: "zero", kind: "quick" },
        { measure: "time_at_return_seconds", arm: "control", expect: "zero" },
        { measure: "first_budget_signal_seconds", arm: "control", expect: "zero" },
      ],
    });
    expect(summary.hypotheses).toMatchObject([
      {
        verdict: "PASS",
        against: null,
        effect: null,
        n: 200,
        sentence: "Held in the reserve, budgeted: 0 in every trial, as declared. Of 200 trials none has another value.",
      },
      {
        verdict: "FAIL",
        sentence: expect.stringMatching(
          /treatment: declared 0 in every trial, found another value in \d+ of 200 trials, [\d.]+ s at most\.$/,
        ),
      },
      { verdict: "PASS" },
      { verdict: "FAIL", sentence: expect.stringMatching(/of [\d,]+ calls, 10 s at most/) },
      { verdict: "NOT SHOWN", n: 0, sentence: expect.stringContaining("no trial has a value") },
    ]);
    expect(missing(page, "A zero is counted, not estimated.")).toEqual([]);
  });

  test("of outer timeouts is decided by the permutation, and the page says its chance", () => {
    const [first] = usual.summary.hypotheses;
    expect(first).toMatchObject({ measure: "outer_timeout", verdict: "PASS", n: 10 });
    expect(first!.p).toBeLessThan(0.05);
    expect(first!.sentence).toContain("sign-flip p = 0.0");
    expect(missing(usual.page, "sign flip over clusters, exact: p = 0.0")).toEqual([]);
    expect(missing(usual.page, "BCa bootstrap")).toEqual([]);
  });

  test("between arms that are alike is not shown, for there is nothing to see", async () => {
    const twin = { ...THREE_ARMS[0]!, arm: "twin" };
    const { summary, page } = await make({
      arms: [THREE_ARMS[0]!, twin],
      hypotheses: [{ measure: "outer_timeout", arm: "twin", against: "control", expect: "lower" }],
      declaredFactors: [],
      published: [],
    });
    expect(summary.hypotheses[0]).toMatchObject({ verdict: "NOT SHOWN", effect: { value: 0, low: 0, high: 0 }, p: 1 });
    expect(missing(textOf(page), "The arms are alike in every setting: this is an A/A panel")).toEqual([]);
  });

  test("is not needed: without one the page says so", async () => {
    const { page } = await make({ hypotheses: [], published: [], exhibits: [] });
    expect(missing(textOf(page), "The panel declares no hypothesis")).toEqual([]);
    expect(missing(textOf(page), "names no published figures")).toEqual([]);
    expect(page.includes('id="exhibits"')).toBe(false);
  });
});

describe("a verdict is withheld", () => {
  const cases: Readonly<Record<string, readonly [Synthetic, RegExp]>> = {
    "when worlds are missing": [{ written: 7 }, /^incomplete: 7 of 10 replicates are in the file$/],
    "when the run never came to its end": [{ finished: false }, /^incomplete: the run never came to its end$/],
    "when arms ran at different concurrency": [
      { concurrencyGap: 0.08 },
      /^arms did not run at the same concurrency: it differs by up to 8 % in 10 replicates/,
    ],
  };
  for (const [when, [options, why]] of Object.entries(cases)) {
    test(when, async () => {
      const { summary, page } = await make(options);
      expect(summary.verdict.withheld).toMatch(why);
      expect(summary.verdict.sentence).toBe("");
      expect(summary.hypotheses.map(({ verdict }) => verdict)).toEqual(["NOT SHOWN", "NOT SHOWN", "NOT SHOWN"]);
      expect(page.match(/class="badge pass"|class="better"|class="worse"/)).toBeNull();
      expect(page.match(/class="badge held"/g)).toHaveLength(4);
      expect(summary.complete).toBe(when === "when arms ran at different concurrency");
    });
  }

  test("but not for a gap of 5 %, which is allowed", async () => {
    expect((await make({ concurrencyGap: 0.05 })).summary.verdict.withheld).toBeNull();
  });
});

describe("what is independent", () => {
  const n = (summary: Summary) => summary.differences["treatment"]!["duration_seconds"]!.n;

  test("is the replicate, where tasks are redrawn", () => {
    expect(n(usual.summary)).toBe(10);
    expect(missing(usual.page, "Tasks are redrawn in each replicate")).toEqual([]);
  });

  test("lies crosswise, where scenarios are listed: n is the smaller number", async () => {
    const { summary, page } = await make({ scenarios: ["a", "b", "c", "d"], replicates: 6 });
    expect(n(summary)).toBe(4);
    expect(missing(page, "clustered by scenario and by replicate")).toEqual([]);
  });

  test("is the scenario, where there is one replicate, and the page says so", async () => {
    const { summary, page } = await make({ replicates: 1, tasks: 12 });
    expect(n(summary)).toBe(12);
    expect(missing(page, "There is one replicate, so intervals are over scenarios")).toEqual([]);
    expect(summary.arms["control"]!["time_at_return_seconds"]).toMatchObject({ low: null, high: null, n: 1 });
  });

  test("is nothing at all with one scenario and one replicate: values stand without intervals", async () => {
    const { summary } = await make({ scenarios: ["only"], replicates: 1 });
    expect(summary.differences["treatment"]!["duration_seconds"]).toMatchObject({ low: null, high: null });
    expect(summary.hypotheses.every(({ verdict }) => verdict === "NOT SHOWN")).toBe(true);
    expect(summary.hypotheses[0]!.sentence).toContain("needs two pairs or more");
  });
});

describe("a run that kept trials only", () => {
  test("has everything but what needs single calls, and says what it needs", async () => {
    const { summary, page } = await make({
      detail: "trials",
      hypotheses: [{ measure: "time_at_return_seconds", arm: "treatment", against: "control", expect: "higher" }],
    });
    expect(summary.needs_detail).toEqual([
      "time_to_first_control_seconds",
      "time_to_first_control_p90_seconds",
      "time_to_first_control_p99_seconds",
      "time_to_first_control_longest_seconds",
      "time_at_return_seconds",
    ]);
    expect(summary.arms["control"]).not.toHaveProperty("time_at_return_seconds");
    expect(summary.hypotheses[0]).toMatchObject({
      verdict: "NOT SHOWN",
      effect: null,
      sentence: expect.stringContaining("needs --detail calls"),
    });
    expect(summary.published.map(({ measure }) => measure)).not.toContain("time_at_return_seconds");
    expect(missing(textOf(page), "needs --detail calls, and this run kept trials only")).toEqual([]);
    expect(page.match(/Needs <code>--detail calls<\/code>/g)).toHaveLength(4);
    expect(missing(page, 'id="chart-ledger"', 'id="chart-cost"')).toEqual([]);
    expect(summary.arms["control"]).toHaveProperty("cost_usd");
  });
});

describe("published figures", () => {
  test("are judged row by row against single replicates", async () => {
    const { summary, page } = await make({
      published: [
        { arm: "control", measure: "time_at_return_seconds", low: 10.05, high: 10.05 },
        { arm: "control", measure: "time_at_return_seconds", low: 10.2, high: 10.2 },
        { arm: "treatment", against: "control", measure: "duration_seconds", low: 0.2, high: 0.9 },
        { arm: "treatment", measure: "wait_actions", low: 490, high: 490 },
        { arm: "treatment", against: "control", measure: "outer_timeouts", low: 1, high: 1 },
      ],
    });
    expect(summary.published.map(({ published, verdict }) => [published, verdict])).toEqual([
      [10.05, "reproduced"],
      [10.2, "not reproduced"],
      [[0.2, 0.9], "reproduced"],
      [490, "not reproduced"],
    ]);
    expect(summary.published[0]).toMatchObject({ mean: 10, low: 10, high: 10, source: "a note" });
    // No control is lost, so there is nothing to be relative to.
    expect(missing(textOf(page), "no replicate has a value to compare")).toEqual([]);
    expect(missing(textOf(page), "2 of 4 published figures reproduced")).toEqual([]);
  });
});

describe("what a panel cannot show", () => {
  test("is said of a panel of quick commands", async () => {
    const { page } = await make({ hangs: 0, longest: 5 });
    expect(missing(textOf(page), "it supports a reduction of turns and says nothing about long-tail safety")).toEqual(
      [],
    );
  });

  test("is said where nothing hangs, where there is one scenario, and where nobody is told", async () => {
    const { page } = await make({
      hangs: 0,
      scenarios: ["only"],
      replicates: 3,
      arms: THREE_ARMS.slice(0, 2),
      hypotheses: [],
      published: [],
    });
    const text = textOf(page);
    expect(missing(text, "No trial met a command that hangs")).toEqual([]);
    expect(missing(text, "It has one scenario")).toEqual([]);
    expect(missing(text, "No arm is told of the outer limit")).toEqual([]);
  });
});

describe("servers", () => {
  test("are a kind of their own: in outcomes, in control, and in the order of kinds", async () => {
    const { page } = await make({ servers: 0.05 });
    const data = JSON.parse(/id="chart-data">(.*?)<\/script>/s.exec(page)![1]!);
    const kinds = (chart: string) => [...new Set(data.charts[chart].rows.map((row: { kind: string }) => row.kind))];
    expect(kinds("timeouts")).toEqual(["all", "quick", "long_finite", "server", "hanging"]);
    expect(kinds("reward")).toEqual(kinds("timeouts"));
    expect(kinds("first-control")).toEqual(["quick", "long_finite", "server", "hanging"]);
    expect(missing(page, ">With a server</text>", ">Servers</text>", "<td>server</td>")).toEqual([]);
  });

  test("alone are not taken for quick commands", async () => {
    const { page } = await make({ servers: 0.2, hangs: 0, longest: 5 });
    const text = textOf(page);
    expect(text).not.toContain("It has only quick commands");
    expect(
      missing(text, "No trial met a command that hangs", "No trial met a command that is long but finite"),
    ).toEqual([]);
  });
});

describe("providers", () => {
  test("stand beside the arms down to the figure in which they differ, and in full below", async () => {
    const dear = { ...PROVIDER.economy, price: { input: 5, output: 15 } };
    const arms = [THREE_ARMS[0]!, { ...THREE_ARMS[0]!, arm: "dear", provider: { economy: dear } }];
    const { page } = await make({ arms, hypotheses: [], published: [], declaredFactors: [] });
    const text = textOf(page);
    expect(missing(text, "provider.economy.price.input 3 5")).toEqual([]);
    expect(text).not.toContain("provider.economy.price.output");
    expect(missing(page, "&quot;lifetime&quot;: 300000")).toEqual([]);
  });
});

describe("an exhibit", () => {
  test("shows a model at work as one stretch, however many requests it makes", () => {
    const data = JSON.parse(/id="chart-data">(.*?)<\/script>/s.exec(usual.page)![1]!);
    const own = data.charts["exhibit-1"].rows.filter((row: { arm: string }) => row.arm === "control");
    expect(own.map((row: Record<string, unknown>) => [row["part"], row["from_seconds"], row["to_seconds"]])).toEqual([
      ["model at work", 0, 300],
      ["initial hold", 300, 310],
      ["model at work", 310, 322],
      ["process wait", 322, 442],
      ["model at work", 442, 454],
      ["process wait", 454, 574],
      ["model at work", 574, 2_086],
    ]);
  });
});

describe("names and texts of any kind", () => {
  let hostile: Made;
  beforeAll(async () => {
    hostile = await make(HOSTILE);
  });

  test("stay text: no element, no script, no turned line comes of them", () => {
    const rest = withoutScripts(hostile.page);
    expect(rest.match(/<script|<img|<b>this/)).toBeNull();
    expect(scriptsIn(hostile.page)).toHaveLength(4);
    expect(hostile.page.match(/[\u202e\u2066]/)).toBeNull();
    expect(missing(rest, "Does &lt;b&gt;this&lt;/b&gt; &quot;hold&quot;?")).toEqual([]);
  });

  test("keep arms apart, however long or strange their names", () => {
    expect(Object.keys(hostile.summary.arms)).toEqual(HOSTILE_ARMS.map(({ arm }) => arm.replaceAll("\0", "\ufffd")));
    expect(hostile.page.length).toBeLessThan(2.5e6);
  });

  test("are cut short where many stand side by side, and stay different", async () => {
    const long = "x".repeat(60);
    const arms = [1, 2, 3].map((index) => ({ ...THREE_ARMS[0]!, arm: `${long}${index}` }));
    const { page } = await make({ arms, hypotheses: [], published: [] });
    for (const label of [`${"x".repeat(39)}…<`, `${"x".repeat(39)}… (2)<`, `${"x".repeat(39)}… (3)<`])
      expect(missing(page, label)).toEqual([]);
  });
});

describe("a crossed panel of 32 arms", () => {
  test("is drawn by the same specs, series by series, and keeps its size", async () => {
    const { page, summary } = await make({
      arms: crossedArms(),
      crossed: true,
      tasks: 6,
      replicates: 3,
      hypotheses: [],
      published: [],
      exhibits: [],
    });
    expect(Object.keys(summary.arms)).toHaveLength(32);
    const text = textOf(page);
    expect(missing(text, "Arms go by their levels of cap · habit · slice · budget")).toEqual([]);
    expect(missing(text, "240 · long · none · untold")).toEqual([]);
    expect(page.length).toBeLessThan(4e6);
    // Another habit is not to be had by changing a policy.
    const { divided, arms } = summary.tradeoffs!;
    expect(divided).toBe(true);
    const habitOf = (arm: string) => /habit-(\w+)/.exec(arm)![1]!;
    const dominated = Object.entries(arms).filter(([, { front }]) => !front);
    expect(dominated.length).toBeGreaterThan(0);
    for (const [arm, { dominated_by: by }] of dominated)
      expect(new Set(by.map(habitOf))).toEqual(new Set([habitOf(arm)]));
  });
});

describe("rewards", () => {
  test("that are shares of tests stand without Wilson's interval, and none at all without a chart", async () => {
    const shares = await make({ rewards: "shares", tasks: 9 });
    const data = JSON.parse(/id="chart-data">(.*?)<\/script>/s.exec(shares.page)![1]!);
    expect(data.charts.reward.rows[0]).toMatchObject({ low: null, high: null });
    const none = await make({ rewards: "none", tasks: 6 });
    expect(none.summary.arms["control"]).not.toHaveProperty("reward");
    expect(missing(textOf(none.page), "There is nothing to show: no row of this run is of that kind.")).toEqual([]);
  });
});

describe("a report definition", () => {
  const copied = (name: string) => {
    const to = join(place, name);
    cpSync(DEFAULT_DEFINITION, to, { recursive: true });
    return to;
  };

  test("takes one more chart by one query, one spec and one line", async () => {
    const own = copied("one-more");
    writeFileSync(
      join(own, "stops.sql"),
      "SELECT o.arm, avg(t.processes_stopped)::DOUBLE AS stopped FROM trials AS t JOIN arm_order AS o ON o.name = t.arm::VARCHAR GROUP BY ALL ORDER BY o.arm;",
    );
    writeFileSync(
      join(own, "stops.vl.json"),
      JSON.stringify({
        mark: "bar",
        encoding: { y: { field: "arm", type: "nominal" }, x: { field: "stopped", type: "quantitative" } },
      }),
    );
    const yaml = join(own, "report.yaml");
    writeFileSync(
      yaml,
      readFileSync(yaml, "utf8").replace(
        "      - chart: reward\n",
        "      - { chart: stops, question: How many processes are stopped? }\n      - chart: reward\n",
      ),
    );
    const { page } = await make({}, own);
    expect(missing(page, 'id="chart-stops"')).toEqual([]);
    expect(missing(page, "How many processes are stopped?")).toEqual([]);
  });

  test("that has a fault is refused by name, and what stood at the place stays", async () => {
    const path = join(place, "kept.html");
    writeFileSync(path, "the old report");
    const faulty: Readonly<Record<string, readonly [string, string, RegExp]>> = {
      "no-yaml": ["report.yaml", "sections: [", /report\.yaml is not YAML/],
      "no-shape": ["report.yaml", "report: x", /report\.yaml: .*sections/],
      "no-json": ["ledger.vl.json", "{", /ledger\.vl\.json is not JSON/],
      "no-sql": ["ledger.sql", "SELECT bogus", /ledger\.sql: .*bogus/],
      warns: [
        "ledger.vl.json",
        '{ "mark": "bar", "encoding": { "bogus": { "field": "arm", "type": "nominal" } } }',
        /chart ledger-wide: .*bogus/,
      ],
    };
    for (const [name, [file, content, says]] of Object.entries(faulty)) {
      const definition = copied(name);
      writeFileSync(join(definition, file), content);
      const error = await writeReport(usual.database, path, { definition }).catch((failure: unknown) => failure);
      expect(error).toBeInstanceOf(ReportError);
      expect((error as Error).message).toMatch(says);
    }
    await expect(writeReport(usual.database, path, { definition: join(place, "nowhere") })).rejects.toThrow(
      /report\.yaml is not there/,
    );
    expect(readFileSync(path, "utf8")).toBe("the old report");
    expect(readdirSync(place).filter((name) => name.endsWith(".part"))).toEqual([]);
  });
});

describe("a file is refused", () => {
  test("that has tables of another version", async () => {
    await expect(make({ schemaVersion: 999 })).rejects.toThrow("the file has tables of version 999");
  });

  test("that holds no finished replicate", async () => {
    await expect(make({ written: 0, finished: false })).rejects.toThrow("holds no finished replicate");
  });

  test("that is not there; and one that was read is closed again", async () => {
    await expect(writeReport(join(place, "none.duckdb"), join(place, "none.html"))).rejects.toThrow("none.duckdb");
    expect(existsSync(join(place, "none.html"))).toBe(false);
    await (await readStore(usual.database)).close();
  });

  test("whose page cannot be written", async () => {
    mkdirSync(join(place, "taken.html", "full"), { recursive: true });
    await expect(writeReport(usual.database, join(place, "taken.html"))).rejects.toThrow(
      "taken.html cannot be written",
    );
  });
});

describe("what arms are good for", () => {
  test("is weighed in five ways, and whoever is beaten in all of them is told who beats him", () => {
    expect(usual.summary.tradeoffs!.objectives).toEqual([
      "reward",
      "outer_timeout",
      "longest_control_gap_seconds",
      "finite_commands_killed",
      "cost_usd",
    ]);
    expect(usual.summary.tradeoffs!.divided).toBe(false);
    const { arms, tradeoffs } = usual.summary;
    const worse = (one: string, other: string) =>
      tradeoffs!.objectives.every((measure) => {
        const sign = measure === "reward" ? -1 : 1;
        return sign * arms[one]![measure]!.value >= sign * arms[other]![measure]!.value;
      });
    for (const [arm, { front, dominated_by }] of Object.entries(tradeoffs!.arms)) {
      const others = Object.keys(arms).filter((other) => other !== arm && worse(arm, other) && !worse(other, arm));
      expect(front, arm).toBe(others.length === 0);
      expect(others).toEqual(expect.arrayContaining([...dominated_by]));
      expect(dominated_by.length > 0, arm).toBe(!front);
    }
    expect(tradeoffs!.arms["budgeted"]).toEqual({
      ...{ front: false, dominated_by: ["control"] },
      ...{ front_replicates: 2, replicates: 10 },
    });
  });

  test("stands in the page by shape and word, with what each loses to the oracle", () => {
    const section = /<section id="tradeoffs"[\s\S]*?<\/section>/.exec(usual.page)![0];
    const text = textOf(section);
    expect(missing(text, "◆ on the front", "○ dominated", "On the front", "Dominated: budgeted by control.")).toEqual(
      [],
    );
    const { value } = usual.summary.arms["treatment"]!["reward_regret"]!;
    expect(missing(text, `treatment (${(100 * value).toFixed(1)} points of reward`)).toEqual([]);
    expect(section.match(/<figure class="chart"/g)).toHaveLength(2);
  });

  test("is not asked of one arm, and weighs requests where nobody counts tokens", async () => {
    const alone = await make({ arms: THREE_ARMS.slice(0, 1), hypotheses: [], published: [] });
    expect(alone.summary.tradeoffs).toBeNull();
    expect(missing(alone.page, 'id="chart-tradeoffs"', 'id="chart-standings-title"')).toHaveLength(2);
    const uncounted = await make({ provider: false });
    expect(uncounted.summary.tradeoffs!.objectives.at(-1)).toBe("provider_calls");
  });

  test("leaves everybody on the front where arms are alike", async () => {
    const twins = ["one", "other"].map((arm) => ({ ...THREE_ARMS[0]!, arm }));
    const { summary, page } = await make({ arms: twins, hypotheses: [], published: [] });
    expect(Object.values(summary.tradeoffs!.arms)).toEqual([
      { front: true, dominated_by: [], front_replicates: 10, replicates: 10 },
      { front: true, dominated_by: [], front_replicates: 10, replicates: 10 },
    ]);
    expect(missing(textOf(page), "On the front is every arm")).toEqual([]);
  });
});
