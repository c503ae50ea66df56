/** Where the figures come from: enough to make them again, and to see that they are the same. */
import { dictionaryOf } from "../telemetry/table.ts";
import { TABLES } from "../telemetry/tables.ts";
import { type Experiment, MATCHED_WITHIN } from "./experiment.ts";
import { type Html, html } from "./html.ts";
import { fixed } from "./numbers.ts";
import { counted, type Names, scrolling, table } from "./words.ts";

export function provenanceBlock(experiment: Experiment, names: Names): Html {
  const { row, worlds, versions, host, git, overrides, inputs, digest } = experiment;
  const spelled = (facts: Readonly<Record<string, unknown>>) =>
    Object.entries(facts)
      .map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`)
      .join(", ");
  const facts: readonly (readonly [string, Html | string])[] = [
    ["command", html`<code class="command">${row.command}</code>`],
    [
      "results",
      html`<code>${digest}</code> over ${counted(worlds.length, "world")}, ${counted(
        worlds.reduce((sum, world) => sum + world.rows, 0),
        "row",
      )}`,
    ],
    ["inputs", html`<code class="long">${row.input_digest}</code>`],
    ["experiment", html`<code>${row.experiment_id}</code>`],
    ["seed", String(row.seed)],
    ["replicates", `${worlds.length} of ${row.replicates}, ${counted(row.tasks, "task")} each`],
    [
      "concurrency",
      `${row.concurrency_per_arm} slots for each arm, ${fixed(row.cut_grace_seconds, 0)} s taken after a cut-off`,
    ],
    ["detail", html`<code>${row.detail}</code>`],
    [
      "changed on the command line",
      overrides.length === 0 ? "nothing" : html`${overrides.map((one) => html`<code>${one}</code> `)}`,
    ],
    ["versions", spelled(versions)],
    [
      "checkout",
      git === null ? "none" : html`<code>${git.commit ?? "?"}</code>${git.changed === true && " with changes"}`,
    ],
    ["host", spelled(host)],
    ["run", `${row.started_at} to ${row.finished_at ?? "no end"}`],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<h3>Frozen before it ran</h3>
${frozen(experiment)}
<h3>Input files</h3>
${scrolling(
  "Input files with their digests",
  table(
    "Input files with their digests",
    [{ head: "file" }, { head: "SHA-256" }],
    inputs.map(({ path, sha256 }) => [html`<code>${path}</code>`, html`<code class="hash">${sha256}</code>`]),
  ),
)}
${
  !(experiment.measured && !experiment.hasCalls) &&
  html`<h3>Concurrency realised</h3>
${concurrency(experiment, names)}`
}`;
}

/** What was locked before anybody saw a result, and that the run was checked against it. */
function frozen({ lock, row }: Experiment): Html {
  if (lock === null) {
    return html`<p>The panel was not frozen: nothing shows that its hypotheses stood before the results did. <code>yieldpoint freeze</code> writes a lock, and <code>run --frozen</code> runs only what it holds.</p>`;
  }
  const facts: readonly (readonly [string, Html | string])[] = [
    ["frozen", lock.frozen_at],
    ["checked", `before the run of ${row.started_at}: PASS, every byte as it was`],
    ["engine", lock.engine],
    ["seed, replicates", `${lock.seed}, ${lock.replicates}`],
    [
      "hypotheses",
      lock.hypotheses.length === 0
        ? "none"
        : html`${lock.hypotheses.map((each) => html`<code>${JSON.stringify(each)}</code><br>`)}`,
    ],
    [
      "analysis",
      Object.entries(lock.analysis)
        .map(([name, value]) => `${name}: ${value}`)
        .join("; "),
    ],
    ["files", `${counted(lock.files.length, "file")}, each by its SHA-256, as below`],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Slots taken until the first queue was empty: matched is what a paired comparison needs. */
function concurrency({ arms, worlds }: Experiment, names: Names): Html {
  const means = worlds.map(({ mean_concurrency }) => JSON.parse(mean_concurrency) as Readonly<Record<string, number>>);
  const worst = worlds.reduce((most, world) => Math.max(most, world.concurrency_gap), 0);
  const rows = arms.map(({ row }) => {
    const own = means.map((world) => world[row.arm] ?? 0);
    const mean = own.reduce((sum, value) => sum + value, 0) / Math.max(own.length, 1);
    return [
      names.chip(row.arm),
      fixed(mean, 2),
      own.length === 0 ? "–" : `${fixed(Math.min(...own), 2)} to ${fixed(Math.max(...own), 2)}`,
    ];
  });
  return html`<p>Slots taken on average until the first arm had no more trials to start. The largest difference between two arms in one world is ${fixed(worst * 100, 1)} %, and up to ${MATCHED_WITHIN * 100} % is allowed.</p>
${scrolling(
  "Concurrency realised, by arm",
  table(
    "Concurrency realised, by arm",
    [{ head: "arm" }, { head: "mean over replicates", number: true }, { head: "in single replicates", number: true }],
    rows,
  ),
)}`;
}

export function dictionaryBlock(): Html {
  const rows = dictionaryOf(TABLES);
  return html`<details id="dictionary"><summary>Data dictionary: ${counted(TABLES.length, "table")}, ${counted(rows.length, "column")}</summary>
${TABLES.map(
  ({ name, says }) =>
    html`<h3 class="minor"><code>${name}</code></h3><p class="note">${says}</p>${scrolling(
      `Columns of ${name}`,
      table(
        `Columns of ${name}`,
        [{ head: "column" }, { head: "type" }, { head: "unit" }, { head: "null" }, { head: "meaning" }],
        rows
          .filter((row) => row.table === name)
          .map((row) => [
            html`<code>${row.column}</code>`,
            html`<code>${row.type}</code>`,
            row.unit ?? "–",
            row.nullable ? "may be" : "never",
            row.says,
          ]),
        { kind: "dictionary" },
      ),
    )}`,
)}</details>`;
}
