/**
 * A gallery: case by case what was reported, what happened under each arm, and the journals, folded.
 *
 * What is looked at is a query of the definition; here it is decided what of it says anything: where all arms of a scenario
 * agree in something, or nobody has any of it, it is left out. Nothing of it needs a script.
 */
import type { Reading } from "../telemetry/store.ts";
import { type Arm, type Experiment, ReportError } from "./experiment.ts";
import { type Html, html, trusted } from "./html.ts";
import { fixed, plain } from "./numbers.ts";
import { listed, scrolling, table, titleOf } from "./words.ts";

/** One trial as an observer sees it. */
export interface Observed {
  readonly ofCase: string;
  readonly scenario: string;
  /** Of the gallery, and as its case calls it. */
  readonly arm: string;
  readonly name: string;
  /** By column of the query. */
  readonly seen: Readonly<Record<string, unknown>>;
}

/** Columns that are shown whatever they hold. */
const ALWAYS = "always_";

/** @param rows of the definition's query, one for each trial */
export function observedOf(
  { arms }: Experiment,
  rows: readonly Readonly<Record<string, unknown>>[],
): readonly Observed[] {
  const byName = new Map(arms.map((arm) => [arm.row.arm, arm]));
  return rows.map(({ arm: name, scenario, ...seen }) => {
    const arm = byName.get(String(name));
    if (arm === undefined) throw new ReportError(`a row of what was observed is of ${String(name)}, which is no arm`);
    return { ofCase: arm.row.of_case ?? "", scenario: String(scenario), arm: arm.row.arm, name: ownName(arm), seen };
  });
}

/** As its case calls it: without the case's name before it. */
function ownName({ row: { arm, of_case } }: Arm): string {
  return of_case !== null && arm.startsWith(`${of_case}/`) ? arm.slice(of_case.length + 1) : arm;
}

/** Arms stand in columns up to this many; more read better as rows. */
const ACROSS = 4;

export async function galleryBlock(
  reading: Reading,
  { cases, arms }: Experiment,
  observed: readonly Observed[],
): Promise<Html> {
  const names = [...new Set(cases.map(({ of_case }) => of_case))];
  const index = html`<ol class="case-index">${names.map((name, at) => {
    const [first] = cases.filter(({ of_case }) => of_case === name);
    return html`<li><a href="#case-${at + 1}"><bdi>${name}</bdi></a> <span>${first!.question}</span></li>`;
  })}</ol>`;
  const blocks: Html[] = [];
  for (const [at, name] of names.entries()) {
    const own = cases.filter(({ of_case }) => of_case === name);
    const scenarios: Html[] = [];
    for (const each of own) {
      const trials = observed.filter(({ ofCase, scenario }) => ofCase === name && scenario === each.scenario);
      const journals = await journalsOf(reading, trials);
      scenarios.push(html`<div class="scenario">
${own.length > 1 && html`<h4><bdi>${each.scenario}</bdi></h4>`}
<p class="symptom">${each.says ?? each.scenario_question}</p>
${each.says !== null && html`<p class="note">${each.scenario_question}</p>`}
<p class="note">${each.scenario_source !== null && html`Source: ${each.scenario_source}. `}The harness ends it at ${plain(each.outer_limit_seconds)}&nbsp;s.</p>
${scrolling(`What happened in ${each.scenario}`, whatHappened(each.scenario, trials))}
${folded(journals, each, own.length > 1 ? trusted("h5") : trusted("h4"))}
</div>`);
    }
    const ways = arms.filter(({ row }) => row.of_case === name);
    blocks.push(html`<article class="case" id="case-${at + 1}" aria-labelledby="case-${at + 1}-title">
<h3 id="case-${at + 1}-title"><bdi>${name}</bdi></h3>
<p class="case-question">${own[0]!.question}</p>
${ways.length <= ACROSS && html`<ul class="says">${ways.map((arm) => html`<li>${badge(ownName(arm))} <span>${arm.row.says}</span></li>`)}</ul>`}
${scenarios}
</article>`);
  }
  return html`${index}${blocks}`;
}

/** The name of an arm within its case: a shape for the two that nearly all cases have. */
function badge(name: string): Html {
  const mark = name === "faulty" ? "✗" : name === "right" ? "✓" : null;
  return html`<span class="arm">${mark !== null && html`<span aria-hidden="true">${mark}</span>`}<bdi>${name}</bdi></span>`;
}

function whatHappened(scenario: string, trials: readonly Observed[]): Html {
  const columns = Object.keys(trials[0]?.seen ?? {}).filter((column) => saysSomething(column, trials));
  const caption = `What happened in ${scenario}`;
  const cell = (column: string, { seen }: Observed) => spelled(seen[column]);
  if (trials.length <= ACROSS) {
    return table(
      caption,
      [{ head: html`<span class="unseen">what was seen</span>` }, ...trials.map(({ name }) => ({ head: badge(name) }))],
      columns.map((column) => [headOf(column), ...trials.map((trial) => cell(column, trial))]),
    );
  }
  return table(
    caption,
    [
      { head: "arm" },
      ...columns.map((column) => ({
        head: headOf(column),
        number: trials.every(({ seen }) => typeof seen[column] !== "string"),
      })),
    ],
    trials.map((trial) => [badge(trial.name), ...columns.map((column) => cell(column, trial))]),
    { kind: "many" },
  );
}

function saysSomething(column: string, trials: readonly Observed[]): boolean {
  const values = trials.map(({ seen }) => seen[column] ?? null);
  if (values.every((value) => value === null)) return false;
  return column.startsWith(ALWAYS) || new Set(values.map((value) => spelled(value))).size > 1;
}

const headOf = (column: string) => titleOf(column.startsWith(ALWAYS) ? column.slice(ALWAYS.length) : column);

function spelled(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "number" ? plain(value) : String(value);
}

interface Journal {
  readonly name: string;
  readonly lines: readonly string[];
}

async function journalsOf(reading: Reading, trials: readonly Observed[]): Promise<readonly Journal[]> {
  const journals: Journal[] = [];
  for (const { arm, scenario, name } of trials) {
    const lines = await reading.rows<{ at_seconds: number; journal: string }>(
      `SELECT e.at_seconds, e.journal FROM events AS e JOIN trials AS t USING (trial_id)
       WHERE t.arm::VARCHAR = $arm AND t.scenario::VARCHAR = $scenario AND t.replicate = 1 AND e.journal IS NOT NULL ORDER BY e.event_index`,
      { arm, scenario },
    );
    journals.push({ name, lines: lines.map(({ at_seconds, journal }) => lineOf(at_seconds, journal)) });
  }
  return journals;
}

export function lineOf(seconds: number, journal: string): string {
  return `${fixed(seconds, 3).replaceAll(",", "").padStart(9)}  ${journal}`;
}

/** A journal is shown whole up to so many lines; of a longer one the beginning and the end. */
const WHOLE_LINES = 60;
const FIRST_LINES = 30;
const LAST_LINES = 15;

/** @param heading the element that heads a journal, one below what stands above it */
function folded(
  journals: readonly Journal[],
  { file, task, scenario }: Experiment["cases"][number],
  heading: Html,
): Html | null {
  const longest = Math.max(0, ...journals.map(({ lines }) => lines.length));
  if (longest === 0) return null;
  return html`<details class="fold"><summary>${journals.length === 1 ? "Journal" : "Journals"} of ${listed(journals.map(({ lines }) => plain(lines.length)))} lines</summary>
<div class="journals">${journals.map(({ name, lines }) => {
    const shown =
      lines.length <= WHOLE_LINES
        ? lines
        : [
            ...lines.slice(0, FIRST_LINES),
            `           …  ${lines.length - FIRST_LINES - LAST_LINES} lines more`,
            ...lines.slice(-LAST_LINES),
          ];
    return html`<section class="journal" aria-label="journal of ${scenario} under ${name}"><${heading}>${badge(name)}</${heading}>
<pre tabindex="0">${shown.join("\n")}</pre></section>`;
  })}</div>
<p class="note">Whole: <code>yieldpoint replay ${file}#${task} --arm ${journals[0]!.name}</code></p></details>`;
}
