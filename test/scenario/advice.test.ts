/** What lint says of files that can be run, and show less than one may think. */
import { describe, expect, test } from "vitest";
import { lintFile } from "../../src/scenario/lint.ts";
import { loadPanel } from "../../src/scenario/load.ts";
import { aPanel, aScenario, folder, marked } from "./files.ts";

const silent = (seconds: string) => `{ run: { seconds: ${seconds}, output: none } }`;
const hang = "{ hang: { output: none } }";

/** A population in which only the kinds of its commands matter. */
function population(mix: string, more: Readonly<Record<string, string>> = {}): string {
  const lines = {
    population: "few",
    tasks: "4",
    outer_limit_seconds: "5400",
    commands_per_task: "10",
    thinking_seconds: "100",
    command: `{ mix: [${mix}] }`,
    grading: "{ tests: 1, reward: all_tests, credit: submitted }",
    ...more,
  };
  return `{ ${Object.entries(lines)
    .map(([key, value]) => `${key}: ${value}`)
    .join(", ")} }`;
}

const even = (...phases: readonly string[]) =>
  phases.map((phase) => `{ p: ${1 / phases.length}, phases: [${phase}] }`).join(", ");
const ofAll = even(silent("1"), silent("60"), hang, hang);
const one = (more = "") => `{ arm: a, policy: control, profile: short, budget: untold${more} }`;

/** A panel about which there is nothing to say but what a test changes. */
const aSoundPanel = (changes: Readonly<Record<string, string>> = {}) =>
  aPanel({ scenarios: "", population: population(ofAll), factors: "[]", arms: `[${one()}]`, ...changes });

const cached = (lifetime: number) =>
  `{ provider: p, cache: { lifetime_seconds: ${lifetime}, write: 1, read: 0 }, price: { input_usd_per_million: 1, output_usd_per_million: 1 } }`;

describe("lint warns of", () => {
  test.each<[string, string, readonly string[]]>([
    [
      "a reserve that takes half of the budget",
      aSoundPanel({ arms: "[▸{ arm: a, policy: budgeted, profile: long, budget: { run_budget_seconds: 1200 } }]" }),
      ["arms[0] keeps a reserve of 600 s in a run of 1200 s (a): half of it or more"],
    ],
    [
      "a command that is never run",
      aScenario({ plan: "[{ submit: {} }]" }).replace("{ line", "▸{ line"),
      ["commands.pytest is never run: no step of the plan names it"],
    ],
    ["nothing, where a panel is sound", aSoundPanel(), []],
    [
      "nothing, where all commands are run, in a job, a loop, or side by side",
      aScenario({
        commands: `{ a: { line: a, phases: [${hang}] }, b: { line: b, phases: [${hang}] }, c: { line: c, phases: [${hang}] }, d: { line: d, phases: [${hang}] } }`,
        plan: "[{ job: { plan: [{ run: a }] } }, { repair: { run: b, then: c, think_seconds: 1, at_most: 2 } }, { together: [{ run: b }, { run: d }] }]",
      }),
      [],
    ],
    [
      "quick commands only",
      aSoundPanel({ population: `▸${population(even(silent("1"), silent("{ uniform: [1, 9.5] }")))}` }),
      [
        "population has quick commands only, under 10 s each: it supports turn reduction, and says nothing about long-tail safety",
      ],
    ],
    [
      "no command that hangs",
      aSoundPanel({ population: `▸${population(even(silent("1"), silent("60")))}` }),
      ["population has no command that hangs: it cannot show what becomes of a hold on one"],
    ],
    [
      "no command that lasts",
      aSoundPanel({ population: `▸${population(even(silent("1"), hang))}` }),
      ["population has no finite command of 10 s or more: it cannot show what it costs to give one up too early"],
    ],
    [
      "no command at all",
      aSoundPanel({ population: `▸${population(ofAll, { commands_per_task: "0" })}` }),
      ["population has no command that is run: it says nothing about holds"],
    ],
    [
      "one scenario only",
      aSoundPanel({ population: "", scenarios: "▸▸[hung-test-run]" }),
      [
        "scenarios has no finite command of 10 s or more: it cannot show what it costs to give one up too early",
        "scenarios is one scenario only: it shows what happens there, and nothing about others",
      ],
    ],
    [
      "nothing, where scenarios are of several kinds",
      aSoundPanel({ population: "", scenarios: "[hung-test-run, early-failure]" }),
      [],
    ],
    [
      "slices that outlive the cache, once for all arms that have them",
      aSoundPanel({
        arms: `[▸${one(", set: { process_wait_slice_seconds: 300 }")}, ${one(", set: { process_wait_slice_seconds: 300 }").replace("arm: a", "arm: b")},
          ${one(", set: { process_wait_slice_seconds: 299 }").replace("arm: a", "arm: c")}]`,
        provider: cached(300),
        factors: "[slice]",
      }),
      [
        "arms[0] has slices of 300 s, and the cache of p lives for 300 s: such a wait outlives it, and pays for the whole prompt again (a and b)",
      ],
    ],
    [
      "waits without a slice that outlive the cache",
      aSoundPanel({ arms: `[▸${one().replace("short", "long")}]`, provider: cached(300) }),
      [
        "arms[0] has no slice and waits of 3600 s, and the cache of p lives for 300 s: such a wait outlives it, and pays for the whole prompt again (a)",
      ],
    ],
    [
      "waits without a slice, whose default outlives the cache",
      aSoundPanel({ arms: `[▸${one(", set: { process_poll_default_wait_seconds: 400 }")}]`, provider: cached(300) }),
      [
        "arms[0] has a default wait of 400 s, and the cache of p lives for 300 s: such a wait outlives it, and pays for the whole prompt again (a)",
      ],
    ],
    [
      "waits without a slice or a bound that are as long as luck has them",
      aSoundPanel({
        arms: `[▸${one(", set: { process_poll_max_wait_seconds: none }").replace("short", "helper-default")}]`,
        provider: cached(300),
      }),
      [
        "arms[0] has no slice and waits of any length, and the cache of p lives for 300 s: such a wait outlives it, and pays for the whole prompt again (a)",
      ],
    ],
    [
      "nothing, where the cache lives longer than any wait",
      aSoundPanel({ arms: `[${one().replace("short", "long")}]`, provider: cached(3_601) }),
      [],
    ],
    ["nothing, where nobody asks for such a wait", aSoundPanel({ provider: cached(121) }), []],
    [
      "nothing, where a told budget makes slices of 240 s",
      aSoundPanel({ arms: "[{ arm: a, policy: shipped, profile: short, budget: told }]", provider: cached(300) }),
      [],
    ],
    [
      "a lifetime among the levels that is under the slice",
      aSoundPanel({
        arms: "",
        base: "{ policy: budgeted, profile: short, budget: untold }",
        factors: "▸{ cap: [10, 60], cache_lifetime: [60, 600] }",
        provider: cached(300),
      }),
      [
        "factors has slices of 240 s, and the cache of p lives for 60 s: such a wait outlives it, and pays for the whole prompt again (cap-10.cache_lifetime-60 and cap-60.cache_lifetime-60)",
      ],
    ],
    [
      "a budget that never binds",
      aSoundPanel({
        arms: "[▸{ arm: a, policy: budgeted, profile: short, budget: told }]",
        population: `▸${population(even(silent("1"), silent("60")))}`,
      }),
      [
        "arms[0] is told of a budget that never binds: even the longest task is over within 824 s, and the reserve begins at 4800 s (a)",
        "population has no command that hangs: it cannot show what becomes of a hold on one",
      ],
    ],
    [
      "no such budget, where it is told shorter",
      aSoundPanel({
        arms: "[{ arm: a, policy: budgeted, profile: short, budget: { run_budget_seconds: 1300 } }]",
        population: `▸${population(even(silent("1"), silent("60")))}`,
      }),
      ["population has no command that hangs: it cannot show what becomes of a hold on one"],
    ],
    [
      "arms that differ in several factors at once",
      aSoundPanel({ arms: "[control, treatment, budgeted]", factors: "▸[cap, habit, slice, budget]" }),
      [
        "factors leaves open what cap, habit, slice and budget do by themselves: no two arms differ in one of them alone; cross the factors, or add arms between",
      ],
    ],
    [
      "the one factor that arms never differ in alone",
      aSoundPanel({
        arms: `[${one()}, ${one().replace("arm: a", "arm: b").replace("short", "long")},
          ${one(", set: { process_wait_slice_seconds: 60, foreground_auto_await_max_seconds: 60 }").replace("arm: a", "arm: c")},
          ${one(", set: { foreground_auto_await_max_seconds: 60 }").replace("arm: a", "arm: d").replace("short", "long")}]`,
        factors: "▸[cap, habit, slice]",
      }),
      [
        "factors leaves open what slice does by itself: no two arms differ in it alone; cross the factors, or add arms between",
      ],
    ],
    [
      "nothing, where each factor is changed alone",
      aSoundPanel({
        arms: `[${one()}, ${one().replace("arm: a", "arm: b").replace("short", "long")},
          ${one(", set: { process_wait_slice_seconds: 60 }").replace("arm: a", "arm: c")}]`,
        factors: "[habit, slice]",
      }),
      [],
    ],
  ])("%s", (_, text, says) => {
    const { text: bare, marks } = marked(text);
    const { path } = folder({ "f.yaml": bare });
    const { faults, warnings } = lintFile(path("f.yaml"));
    expect(faults).toEqual([]);
    const expected = says.map((said, at) => `${path("f.yaml")}:${marks[at]}: ${said}`);
    expect(warnings.toSorted()).toEqual(expected.toSorted());
  });

  test("what a panel cannot show, while whoever runs it is told only what is odd about it", () => {
    const arms = "[{ arm: a, policy: budgeted, profile: long, budget: { run_budget_seconds: 1200 } }]";
    const { path } = folder({ "f.yaml": aPanel({ arms, factors: "[]" }) });
    expect(lintFile(path("f.yaml")).warnings).toHaveLength(3);
    expect(loadPanel(path("f.yaml")).warnings).toEqual([
      `${path("f.yaml")}:6:8: arms[0] keeps a reserve of 600 s in a run of 1200 s (a): half of it or more`,
    ]);
  });
});
