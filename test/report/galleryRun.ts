/** A gallery as a run leaves it, in a file; of what ships, or of a case that means harm. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { conductAndKeep, dictionariesOf, openingRows } from "../../src/cli/keep.ts";
import { loadPanel, type Panel } from "../../src/scenario/load.ts";
import { openStore } from "../../src/telemetry/store.ts";
import { literal } from "../../src/telemetry/table.ts";
import { TABLES } from "../../src/telemetry/tables.ts";

/** Runs a gallery into a file, as `run` does. */
export async function writeGallery(panel: Panel, path: string): Promise<void> {
  const experimentId = "gallery";
  const dictionaries = dictionariesOf(panel, experimentId);
  const store = await openStore(path, TABLES, dictionaries, { existing: "replace" });
  const provenance = {
    ...{
      experimentId,
      inputDigest: "0".repeat(64),
      overrides: "[]",
      lock: null,
      versions: "{}",
      git: "null",
      host: "{}",
    },
    ...{ command: `yieldpoint run ${panel.panel}.yaml`, startedAt: "2026-11-30T12:00:00.000Z" },
  };
  await store.appendWorlds(openingRows(panel, "calls", provenance, dictionaries));
  await conductAndKeep({ panel, detail: "calls", experimentId, store, onWorld: async () => true });
  await store.rows(`UPDATE experiments SET finished_at = ${literal("2026-11-30T12:00:01.000Z")}`);
  await store.close();
}

const harm = (what: string) => `</p></details></pre><script>window.hacked = "${what}"</script> \u202Eesrever`;

/** The same for a gallery whose one case says everything that a page must survive. */
export async function writeHostileGallery(path: string): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "yieldpoint-gallery-"));
  const files = {
    "all.yaml": { panel: "all", question: harm("question"), cases: "cases", replicates: 1 },
    "cases/one.yaml": {
      ...{ panel: "one", question: harm("case question"), source: harm("case source"), replicates: 1 },
      ...{ scenarios: ["../harmful.yaml"], factors: ["cap"] },
      arms: ["faulty", "odd", "right"].map((arm, at) => ({
        ...{ arm, says: harm("arm says"), policy: "shipped", profile: "short", budget: "untold" },
        set: { foreground_auto_await_max_seconds: 30 + at },
      })),
    },
    "harmful.yaml": {
      ...{
        scenario: "harmful",
        question: harm("scenario question"),
        says: harm("says"),
        source: harm("source"),
      },
      outer_limit_seconds: 600,
      commands: { a: { line: `echo ${harm("line")}`, phases: [{ hang: { output: "none" } }] } },
      plan: [{ run: "a" }, { submit: {} }],
      grading: { tests: 1, reward: "all_tests", credit: "submitted" },
    },
  };
  try {
    for (const [file, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), JSON.stringify(content));
    }
    await writeGallery(renamed(loadPanel(join(root, "all.yaml"))), path);
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** Names that no file may have, and a table can. */
function renamed(panel: Panel): Panel {
  const name = harm("case");
  const cases = panel.cases.map((each): Panel => {
    const scenarios = "scenarios" in each.source ? each.source.scenarios : [];
    return {
      ...each,
      panel: name,
      source: { scenarios: scenarios.map((scenario) => ({ ...scenario, scenario: harm("scenario") })) },
      arms: each.arms.map((arm, at) => ({
        ...arm,
        arm: `${name}/${["faulty", harm("arm"), "a".repeat(300)][at]}`,
      })),
    };
  });
  const scenarios = cases.flatMap(({ source }) => ("scenarios" in source ? source.scenarios : []));
  return { ...panel, panel: harm("panel"), cases, source: { scenarios }, arms: cases.flatMap(({ arms }) => arms) };
}
