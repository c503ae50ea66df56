/** A panel that varies what is around its arms: its cells, where the verdict turns, and the page that says so. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { conductWorld, type FinishedTrial } from "../../src/experiment/conduct.ts";
import { conductParts } from "../../src/experiment/parts.ts";
import { scheduled } from "../../src/experiment/schedule.ts";
import { keyed } from "../../src/random.ts";
import { type Summary, writeReport } from "../../src/report/report.ts";
import { loadPanel, type Panel } from "../../src/scenario/load.ts";
import { folder } from "./folder.ts";
import { writeGallery } from "./galleryRun.ts";

const place = folder();
const file = join(place, "corners.yaml");
let panel: Panel;
let page: string;
let summary: Summary;

beforeAll(async () => {
  mkdirSync(place, { recursive: true });
  writeFileSync(
    file,
    `panel: corners
question: Where does it <script>turn</script>?
population: deepswe-like
replicates: 6
factors: [slice, budget]
arms: [treatment, budgeted]
vary: { long_wait_probability: [0, own], hang_probability: [0, 0.004] }
hypotheses:
  - { measure: outer_timeout, arm: budgeted, against: treatment, expect: lower }
`,
  );
  panel = loadPanel(file);
  const database = join(place, "corners.duckdb");
  await writeGallery(panel, database);
  summary = await writeReport(database, join(place, "corners.html"), { madeAt: new Date(0) });
  page = readFileSync(join(place, "corners.html"), "utf8");
}, 120_000);

const cellAt = (longest: string, hanging: string) =>
  summary.sensitivity[0]!.cells.find(
    ({ levels }) => levels["long_wait_probability"] === longest && levels["hang_probability"] === hanging,
  )!;

describe("the cell in which nothing is changed", () => {
  test("has, trial by trial, what the headline has of these arms", () => {
    const headline = loadPanel("deepswe-headline");
    const facts = ({ task, events, grade }: FinishedTrial) => ({ scenario: task.scenario, events, grade });
    const here: FinishedTrial[] = [];
    const there: FinishedTrial[] = [];
    conductParts(panel, 1, (trial) => here.push(trial));
    conductWorld(headline, scheduled(headline, keyed), 1, (trial) => there.push(trial));
    for (const arm of ["treatment", "budgeted"]) {
      const name = `${arm}.long_wait_probability-own.hang_probability-0.004`;
      const [own, theirs] = [
        here.filter((trial) => trial.arm.arm === name),
        there.filter((trial) => trial.arm.arm === arm),
      ];
      expect(own).toHaveLength(113);
      expect(own.map(facts)).toEqual(theirs.map(facts));
    }
  });

  test("has the headline's verdict, and it is the panel's own", () => {
    expect(cellAt("own", "0.004")).toMatchObject({ own: true, verdict: "PASS" });
    expect(summary.hypotheses).toHaveLength(1);
    expect(summary.hypotheses[0]).toMatchObject({ verdict: "PASS", family: 1 });
    expect(summary.hypotheses[0]!.effect!.value).toBe(cellAt("own", "0.004").effect!.value);
  });
});

describe("where nothing hangs, or nobody asks for an hour", () => {
  test("no difference is shown, and it is near none", () => {
    for (const cell of [cellAt("own", "0"), cellAt("0", "0"), cellAt("0", "0.004")]) {
      expect(cell.verdict).toBe("NOT SHOWN");
      expect(Math.abs(cell.effect!.value)).toBeLessThan(0.005);
    }
    expect(cellAt("own", "0.004").effect!.value).toBeLessThan(-0.03);
  });

  test("the summary says that there it turns, and how often it passes at each level", () => {
    const { sentence, levels, matters } = summary.sensitivity[0]!;
    expect(sentence).toBe(
      "Outer timeouts lower under budgeted than under treatment: that passes in 1 of 4 cells and fails in none. It is shown nowhere where the probability of the longest wait is 0, nor where the share of commands that hang is 0 %, and elsewhere in every cell. The share of commands that hang matters most, then the probability of the longest wait.",
    );
    expect(levels.map(({ varied, level, passed, cells }) => [varied, level, passed, cells])).toEqual([
      ["long_wait_probability", "0", 0, 2],
      ["long_wait_probability", "own", 1, 2],
      ["hang_probability", "0", 0, 2],
      ["hang_probability", "0.004", 1, 2],
    ]);
    // In two by two cells the shares of both, and of what they do together, add up to all.
    const shares = Object.values(matters);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(1);
    expect(Math.min(...shares)).toBeGreaterThan(0.2);
  });
});

describe("the page", () => {
  test("has every cell in a drawing, by a mark as well as by a colour, and in a table", () => {
    const figure = page.slice(page.indexOf('id="chart-cells-1"'));
    const drawing = figure.slice(0, figure.indexOf("</figure>"));
    const [wide] = drawing.match(/<div class="still wide">[\s\S]*?<\/svg>/) ?? [""];
    expect(wide!.match(/✓/g)).toHaveLength(1);
    expect(wide!.match(/○/g)).toHaveLength(3);
    expect(drawing.match(/NOT SHOWN<\/td>/g)).toHaveLength(3);
  });

  test("answers first where the verdict turns, and runs nothing that a panel says", () => {
    expect(page).toContain("It is shown nowhere where the probability of the longest wait is 0");
    expect(page).not.toContain("<script>turn</script>");
  });
});
