/** A panel of panels: every one in a folder, or all that is wrong with any of them. */
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { lintFile } from "../../src/scenario/lint.ts";
import { loadPanel } from "../../src/scenario/load.ts";
import { aPanel, expectedOf, folder, marked } from "./files.ts";

const gallery = (changes: Readonly<Record<string, string>> = {}) =>
  Object.entries({ panel: "all", question: "What happened?", cases: "cases", replicates: "1", ...changes })
    .map(([key, value]) => `${key}: ${value}\n`)
    .join("");
const aCase = (name: string, changes: Readonly<Record<string, string>> = {}) => aPanel({ panel: name, ...changes });

describe("a gallery", () => {
  test("has every panel in its folder as a case, in the order of their files, and their arms by their names", () => {
    const { path } = folder({
      "g.yaml": gallery({ seed: "7", replicates: "3" }),
      "cases/b.yaml": aCase("second", { arms: "[control, budgeted]", scenarios: "[never-ending-test, hung-test-run]" }),
      "cases/a.yaml": aCase("first", { seed: "2" }),
      "cases/notes.txt": "no panel, and none of its business",
    });
    const panel = loadPanel(path("g.yaml"));
    expect(panel.cases.map(({ panel: name, file, seed, replicates }) => [name, file, seed, replicates])).toEqual([
      ["first", "cases/a.yaml", 7, 3],
      ["second", "cases/b.yaml", 7, 3],
    ]);
    expect(panel.arms.map(({ arm }) => arm)).toEqual([
      ...["first/control", "first/treatment", "first/budgeted"],
      ...["second/control", "second/budgeted"],
    ]);
    expect("scenarios" in panel.source && panel.source.scenarios.map(({ scenario }) => scenario)).toEqual([
      ...["hung-test-run", "never-ending-test", "hung-test-run"],
    ]);
    const paths = panel.inputs.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(["cases/a.yaml", "cases/b.yaml", "g.yaml"]));
    expect(lintFile(path("g.yaml"))).toEqual({ kind: "panel", faults: [], warnings: [] });
  });

  test("takes seed and replicates from the command line, for all its cases", () => {
    const { path } = folder({ "g.yaml": gallery(), "cases/a.yaml": aCase("first") });
    const { cases } = loadPanel(path("g.yaml"), { seed: 5, replicates: 2 });
    expect(cases[0]).toMatchObject({ seed: 5, replicates: 2 });
  });

  test("of what ships has a case for each file", () => {
    const { cases, warnings } = loadPanel("public-cases");
    expect(cases.map(({ file }) => file)).toEqual(
      readdirSync("panels/cases")
        .map((file) => `panels/cases/${file}`)
        .sort(),
    );
    expect(warnings).toEqual([]);
  });
});

describe("a gallery is refused for", () => {
  const refused = (text: string, beside: Readonly<Record<string, string | null>>, sets: readonly string[] = []) => {
    const { path, faults } = folder({ ...beside, "f.yaml": marked(text).text });
    return faults(() => loadPanel(path("f.yaml"), { sets }));
  };
  const one = { "cases/a.yaml": aCase("first") };

  test("what its cases bring themselves", () => {
    const text = `${gallery()}arms: ▸[control]\nscenarios: ▸[hung-test-run]\nprovider: ▸five-minutes\n`;
    expect(refused(text, one)).toEqual(
      expectedOf(
        text,
        ["arms", "scenarios", "provider"].map(
          (key) => `${key} stands beside cases, which bring their own: leave it out`,
        ),
      ),
    );
  });

  test("a folder that is not there, or has no panel in it", () => {
    const text = gallery({ cases: "▸cases" });
    expect(refused(text, {})).toEqual(expectedOf(text, ['cases is "cases": there is no such folder']));
    expect(refused(text, { "cases/notes.txt": "" })).toEqual(
      expectedOf(text, ['cases is "cases": there is no panel in it']),
    );
  });

  test("cases that are none: another kind of file, a gallery, a population", () => {
    expect(
      refused(gallery(), {
        "cases/a.yaml": "scenario: s\n",
        "cases/b.yaml": gallery({ cases: "cases" }),
        "cases/c.yaml": aCase("third", { scenarios: "", population: "long-tail" }),
      }),
    ).toEqual([
      "cases/a.yaml:1:1: the file is a scenario: expected a panel",
      "cases/b.yaml:3:8: cases makes all a gallery: expected a case, as it stands in one",
      "cases/c.yaml:6:13: population stands in a case of a gallery: expected scenarios",
    ]);
  });

  test("two cases of one name", () => {
    expect(refused(gallery(), { ...one, "cases/b.yaml": aCase("first") })).toEqual([
      'cases/b.yaml:1:8: panel is "first", as in cases/a.yaml: expected each case once',
    ]);
  });

  test("whatever is wrong with its cases, all at once", () => {
    expect(
      refused(gallery(), {
        "cases/a.yaml": aCase("first", { replicates: "0" }),
        "cases/b.yaml": aCase("second", { scenarios: "[hung]" }),
        "cases/c.yaml": aCase("third", { factors: "[cap]" }),
      }).map((fault) => fault.replace(/: .*/, "")),
    ).toEqual([
      "cases/a.yaml:4:13",
      "cases/b.yaml:3:13",
      "cases/c.yaml:5:10",
      "cases/c.yaml:5:10",
      "cases/c.yaml:5:10",
    ]);
  });

  test("settings from the command line, which would be those of one case", () => {
    expect(refused(gallery(), one, ["first/control.cap=10"])).toEqual([
      "--set first/control.cap=10: all is a gallery of cases: expected the panel of one of them",
    ]);
  });

  test("a cases that is no folder's name", () => {
    const text = gallery({ cases: "▸[a, b]" });
    expect(refused(text, one)).toEqual(expectedOf(text, ["cases is a list: expected a folder of panels"]));
  });
});
