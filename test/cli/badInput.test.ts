/** Whatever is wrong with a command line or a file: exit code 2, every fault at once, no stack, nothing written. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ended, root, yieldpoint } from "../program.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "yieldpoint-bad-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A panel of one's own in the folder; `changes` replace lines or add some. */
function panelWith(changes: readonly string[], arms = "[control, treatment, budgeted]"): string {
  const file = join(folder, `panel-${readdirSync(folder).length}.yaml`);
  const lines = [
    "panel: mine",
    "question: Is it well said?",
    "population: deepswe-like",
    "replicates: 2",
    "seed: 1",
    "concurrency: { per_arm: 8 }",
    "factors: [cap, habit, slice, budget]",
    `arms: ${arms}`,
  ];
  for (const change of changes) {
    const at = lines.findIndex((line) => line.split(":")[0] === change.split(":")[0]);
    if (at < 0) lines.push(change);
    else lines[at] = change;
  }
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

function refused(words: readonly string[]): Ended {
  const out = join(folder, `out-${Math.trunc(performance.now())}`);
  const ended = yieldpoint([...words, ...(words[0] === "run" && !words.includes("--out") ? ["--out", out] : [])]);
  expect(ended.code, ended.stderr).toBe(2);
  expect(ended.stdout).toBe("");
  expect(ended.stderr).not.toMatch(/\n\s+at /);
  expect(existsSync(out), "nothing is written").toBe(false);
  return ended;
}

describe("files", () => {
  test.each<[string, () => string, RegExp]>([
    [
      "an unknown key, with the nearest right one",
      () => panelWith(["replicats: 3"]),
      /:9:1: replicats is not a key of a panel; did you mean replicates\?/,
    ],
    [
      "a provider that is not all there",
      () => panelWith(["provider: { provider: mine, cache: { lifetime_seconds: 5m } }"]),
      /:9:11: provider\.price is missing: .*:9:\d+: provider\.cache\.lifetime_seconds is "5m": expected .* write 300\n/s,
    ],
    [
      "a factor of a provider that there is not",
      () => panelWith(["provider: five-minute"]),
      /:9:11: provider is "five-minute": there is no provider of that name .* did you mean five-minutes\?/,
    ],
    ["a host that says nothing", () => panelWith(["host: {}"]), /:9:7: host says nothing: expected speed or cores/],
    ["a wrong unit", () => panelWith(["cut_grace_minutes: 1"]), /cut_grace_minutes.*cut_grace_seconds/],
    ["a negative number", () => panelWith(["cut_grace_seconds: -8"]), /:9:20: cut_grace_seconds is -8/],
    [
      "a number that is not finite",
      () => panelWith(["cut_grace_seconds: .inf"]),
      /:9:20: cut_grace_seconds is .*(Infinity|\.inf)/,
    ],
    ["arms that differ in an undeclared factor", () => panelWith(["factors: [cap, habit, slice]"]), /budget/],
    [
      "both budget forms together",
      () =>
        panelWith(
          [],
          "[control, { arm: b, policy: budgeted, profile: long, budget: { run_budget_seconds: 60, run_deadline_epoch_seconds: 70 } }]",
        ),
      /run_budget_seconds and run_deadline_epoch_seconds/,
    ],
    ["a name that resolves to nothing", () => panelWith(["population: deepswe-lik"]), /deepswe-lik.*deepswe-like/],
    ["a missing file", () => join(folder, "nowhere.yaml"), /nowhere\.yaml: does not exist/],
    ["a folder in place of a file", () => folder, /is a folder/],
    ["an empty file", () => written("empty.yaml", ""), /empty/],
    ["binary noise", () => written("noise.yaml", Buffer.from([0, 159, 146, 150, 255, 0, 1])), /noise\.yaml/],
    ["a bomb of aliases", () => written("bomb.yaml", bomb), /bomb\.yaml.*alias/i],
    ["bad YAML", () => written("bad.yaml", "panel: [a\nquestion: x"), /bad\.yaml:\d+:\d+/],
  ])("%s", (_, file, says) => {
    expect(refused(["run", file()]).stderr).toMatch(says);
  });

  test("probabilities that do not add up, in a population of the panel's own", () => {
    const population = [
      "population:",
      "  population: odd",
      "  tasks: 3",
      "  outer_limit_seconds: 100",
      "  commands_per_task: 2",
      "  thinking_seconds: 10",
      "  command: { mix: [ { p: 0.5, phases: [ { hang: { output: none } } ] }, { p: 0.4, phases: [ { hang: { output: none } } ] } ] }",
      "  grading: { tests: 1, reward: all_tests, credit: submitted }",
    ].join("\n");
    expect(refused(["run", panelWith([population])]).stderr).toMatch(/add up to 0\.9/);
  });

  test("several faults in several places are all said at once, each with its place", () => {
    const { stderr } = refused([
      "run",
      panelWith(["replicats: 3", "seed: -1", "population: nowhere"]),
      "--replicates",
      "abc",
    ]);
    const lines = stderr.trim().split("\n");
    expect(lines).toHaveLength(4);
    expect(lines.filter((line) => /\.yaml:\d+:\d+: /.test(line))).toHaveLength(3);
  });
});

describe("flags", () => {
  const headline = join(root, "panels/deepswe-headline.yaml");

  test.each<[string, readonly string[], RegExp]>([
    ["--replicates abc", ["--replicates", "abc"], /--replicates is abc: expected a whole number, 1 or more/],
    ["--replicates 0", ["--replicates", "0"], /--replicates is 0: expected a whole number, 1 or more/],
    ["--replicates -3", ["--replicates", "-3"], /--replicates is -3: expected a whole number, 1 or more/],
    ["--replicates 1.5", ["--replicates", "1.5"], /--replicates is 1\.5/],
    ["a flag without its value", ["--seed"], /--seed is empty/],
    ["a flag twice", ["--seed", "1", "--seed", "2"], /--seed is given 2 times: give it once/],
    ["an unknown flag", ["--replicate", "3"], /--replicate is not a flag of this command; did you mean --replicates\?/],
    ["a flag of a later stage", ["--workers", "2"], /--workers is not a flag of this command/],
    ["a word that is none of the choice", ["--detail", "all"], /--detail is all: expected calls, trials or events/],
    ["a setting of an arm that is not there", ["--set", "nobody.cap=3"], /nobody/],
    ["a word too many", ["more"], /more is one word too many/],
  ])("%s", (_, words, says) => {
    expect(refused(["run", headline, ...words]).stderr).toMatch(says);
  });

  test("of three kinds are all refused at once", () => {
    const { stderr } = refused(["run", headline, "--replicates", "x", "--seed", "-1", "--detial", "calls"]);
    expect(stderr.trim().split("\n")).toHaveLength(3);
  });

  test("a world in which no cut misses the agent is refused to an arm of which it does", () => {
    const task = join(root, "panels/cases/c41-working-while-graded.yaml#1");
    expect(refused(["replay", task, "--arm", "faulty", "--world", "fake-timers"]).stderr).toContain(
      "--world is fake-timers, and arm faulty has cut_reaches client: expected simulated",
    );
  });

  test("a command that is not there is told the nearest", () => {
    expect(refused(["replya", "x"]).stderr).toContain("did you mean replay?");
  });
});

describe("output folders", () => {
  const headline = join(root, "panels/deepswe-headline.yaml");

  test("a foreign one is refused and left as it is", () => {
    const foreign = join(folder, "foreign");
    mkdirSync(foreign);
    writeFileSync(join(foreign, "thesis.txt"), "years of work");
    expect(refused(["run", headline, "--out", foreign]).stderr).toContain("holds files of something else");
    expect(readdirSync(foreign)).toEqual(["thesis.txt"]);
  });

  test("one with somebody else's manifest is foreign", () => {
    const foreign = join(folder, "other");
    mkdirSync(foreign);
    writeFileSync(join(foreign, "manifest.json"), '{"made_by":"someone"}');
    refused(["run", headline, "--out", foreign]);
  });

  test("a file in its place is refused", () => {
    expect(refused(["run", headline, "--out", written("file", "x")]).stderr).toContain("is a file");
  });

  test("one that cannot be made is refused", () => {
    expect(refused(["run", headline, "--out", "/proc/nowhere/run"]).stderr).toMatch(/cannot be (written|read)/);
  });
});

describe("reports", () => {
  test("of a folder without a run say what is missing", () => {
    expect(refused(["report", folder]).stderr).toMatch(/experiment\.duckdb/);
  });

  test("of something that is no database say so", () => {
    const odd = join(folder, "odd");
    mkdirSync(odd);
    writeFileSync(join(odd, "experiment.duckdb"), "not a database at all");
    expect(refused(["report", odd]).stderr).toMatch(/experiment\.duckdb/);
  });
});

function written(name: string, content: string | Buffer): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

const bomb = `${Array.from({ length: 12 }, (_, level) =>
  level === 0
    ? "a0: &a0 [x, x, x, x, x, x, x, x, x]"
    : `a${level}: &a${level} [${Array(9)
        .fill(`*a${level - 1}`)
        .join(", ")}]`,
).join("\n")}\npanel: *a11\n`;
