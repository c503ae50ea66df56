import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { summarise } from "../../src/report/report.ts";
import { sideBySide } from "../../src/report/sideBySide.ts";
import { yieldpoint } from "../program.ts";
import { folder } from "./folder.ts";
import { HOSTILE } from "./hostile.ts";
import { THREE_ARMS, writeSynthetic } from "./synthetic.ts";

const place = folder();
const textOf = (page: string) =>
  page
    .slice(page.indexOf("<body>"))
    .replace(/<[^>]*>/g, " ")
    .replaceAll("\u00a0", " ")
    .replace(/\s+/g, " ");

describe("several runs on one page", async () => {
  const [control, treatment, budgeted] = THREE_ARMS;
  const summaryOf = async (name: string, options: Parameters<typeof writeSynthetic>[1]) => {
    await writeSynthetic(join(place, name), options);
    return summarise(join(place, name));
  };
  const one = await summaryOf("one.duckdb", {});
  const other = await summaryOf("other.duckdb", { arms: [control!, { ...treatment!, slice: 240 }, budgeted!] });
  const madeAt = new Date(0);

  test("say which hypotheses they judge differently, and show each arm of each", () => {
    const text = textOf(
      sideBySide(
        [
          { name: "first", summary: one },
          { name: "second", summary: other },
        ],
        madeAt,
      ),
    );
    expect(text).toContain("2 runs side by side");
    expect(text).toMatch(/\d hypothes[ie]s (is|are) judged differently, of 3\./);
    expect(text).toMatch(/outer_timeout: treatment against control, higher PASS NOT SHOWN differ/);
    expect(text.match(/treatment (first|second)/g)).toEqual(["treatment first", "treatment second"]);
  });

  test("that are the same agree in everything", () => {
    const text = textOf(
      sideBySide(
        [
          { name: "first", summary: one },
          { name: "again", summary: one },
        ],
        madeAt,
      ),
    );
    expect(text).toContain("On 3 hypotheses no two of them say different things.");
    expect(text).not.toContain("differ ");
  });

  test("of any name are shown as text", async () => {
    const hostile = await summaryOf("hostile.duckdb", HOSTILE);
    const page = sideBySide(
      [
        { name: `</h1><script>window.hacked = 1</script>`, summary: hostile },
        { name: "b", summary: one },
      ],
      madeAt,
    );
    expect(page).not.toContain("<script>window.hacked");
    expect(page).not.toContain("\u202e");
    expect(page.length).toBeLessThan(400_000);
  });

  test("refuse what speaks of one run only, all at once", () => {
    const { code, stderr } = yieldpoint(["report", "a", "b", "--format", "md", "--baseline", "c"]);
    expect(code).toBe(2);
    expect(stderr.trim().split("\n")).toHaveLength(2);
  });
});
