import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { heldAgainst } from "../../src/report/baseline.ts";
import { markdownOf } from "../../src/report/markdown.ts";
import { summarise } from "../../src/report/report.ts";
import { yieldpoint } from "../program.ts";
import { folder } from "./folder.ts";
import { THREE_ARMS, writeSynthetic } from "./synthetic.ts";

const place = folder();

describe("the program", async () => {
  const page = join(place, "run", "report.html");
  for (const name of ["run", "another"]) {
    mkdirSync(join(place, name));
    await writeSynthetic(join(place, name, "experiment.duckdb"), { panel: name });
  }

  test("refuses a run of another panel, or none, and leaves the page as it was", () => {
    writeFileSync(page, "as it was");
    for (const baseline of [join(place, "another"), join(place, "nowhere")]) {
      const { code, stdout } = yieldpoint(["report", join(place, "run"), "--baseline", baseline]);
      expect(code).toBe(2);
      expect(stdout).toBe("");
      expect(readFileSync(page, "utf8")).toBe("as it was");
      expect(readdirSync(join(place, "run")).sort()).toEqual(["experiment.duckdb", "report.html"]);
    }
  });

  test("says in one line that a file cannot be written, whatever is to go there", () => {
    const out = join(place, "not", "there");
    for (const words of [["run"], ["run", "--format", "md"], ["run", "another"]]) {
      const [first, ...rest] = words;
      const dirs = rest.map((word) => (word === "another" ? join(place, word) : word));
      const { code, stderr } = yieldpoint([
        "report",
        join(place, first!),
        ...dirs,
        "--out",
        words.length === 1 ? place : out,
      ]);
      expect(code).toBe(2);
      expect(stderr).toContain("cannot be written");
      expect(stderr).not.toMatch(/\n\s+at /);
    }
  });
});

describe("a run beside an earlier one", async () => {
  const summaryOf = async (name: string, options: Parameters<typeof writeSynthetic>[1]) => {
    await writeSynthetic(join(place, name), options);
    return summarise(join(place, name));
  };
  const before = await summaryOf("before.duckdb", {});
  const [control, treatment, budgeted] = THREE_ARMS;
  const after = await summaryOf("after.duckdb", {
    arms: [control!, { ...treatment!, slice: 240 }, budgeted!, { ...budgeted!, arm: "other" }],
    hypotheses: [
      { measure: "outer_timeout", arm: "treatment", against: "control", expect: "higher" },
      { measure: "reward", arm: "budgeted", against: "treatment", expect: "higher" },
    ],
  });

  test("keeps apart hypotheses that differ in one word only, so that none hides that another has turned", () => {
    const judged = (verdict: "PASS" | "FAIL", more: object) => ({ ...before.hypotheses[0]!, ...more, verdict });
    const both = (first: "PASS" | "FAIL") => ({
      ...before,
      hypotheses: [
        judged(first, { margin: 0.1 }),
        judged("PASS", { margin_absolute: 0.1 }),
        judged("PASS", { by: 0.1 }),
      ],
    });
    expect(heldAgainst(both("FAIL"), both("PASS")).verdicts).toEqual([
      { hypothesis: "outer_timeout: budgeted against treatment, lower, margin 0.1", was: "PASS", is: "FAIL" },
    ]);
  });

  test("that has the same rows has nothing to tell", () => {
    expect(heldAgainst(before, before)).toMatchObject({
      same: true,
      verdicts: [],
      moved: [],
      arms_gone: [],
      arms_new: [],
    });
  });

  test("tells which verdicts turned, which are declared by one of them only, and which figures moved beyond their intervals", () => {
    const found = heldAgainst(after, before);
    expect(found).toMatchObject({ same: false, arms_gone: [], arms_new: ["other"] });
    const turned = found.verdicts.find(
      ({ hypothesis }) => hypothesis === "outer_timeout: treatment against control, higher",
    );
    expect(turned?.was).toBe("PASS");
    expect(turned?.is).not.toBe("PASS");
    expect(found.verdicts).toContainEqual({
      hypothesis: "duration_seconds: budgeted against treatment, lower",
      was: "PASS",
      is: null,
    });
    const gap = found.moved.find(
      ({ arm, measure }) => arm === "treatment" && measure === "longest_control_gap_seconds",
    )!;
    expect(gap.is.high!).toBeLessThan(gap.was.low!);
    expect(found.moved.filter(({ arm }) => arm === "control")).toEqual([]);
    expect(markdownOf(after, found)).toContain("- outer\\_timeout: treatment against control, higher: PASS, now **");
  });
});
