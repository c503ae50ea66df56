/** Exhibits: one trial under each arm, as a timeline and as the journal a person reads. No part of any statistic. */
import type { Reading } from "../telemetry/store.ts";
import type { Row } from "./chart.ts";
import type { Arm, Experiment } from "./experiment.ts";
import { lineOf } from "./gallery.ts";
import { type Html, html } from "./html.ts";
import { counted, type Names } from "./words.ts";

/** One line of a journal, and what it is of. */
export interface JournalLine {
  readonly arm: string;
  readonly seed: number;
  readonly at_seconds: number;
  readonly event: string;
  readonly call_index: number | null;
  readonly request_index: number | null;
  readonly process_id: number | null;
  readonly until_seconds: number | null;
  readonly journal: string | null;
}

/** Journals stand open side by side up to this many. */
const OPEN = 4;

/**
 * @param figure draws the chart of an exhibit: its scenario, its outer limit if that is known, a name for the chart
 * @returns null where the panel has none
 */
export async function exhibitsBlock(
  reading: Reading,
  { arms }: Experiment,
  names: Names,
  figure: (scenario: string, limit: number | null, name: string) => Promise<Html>,
): Promise<Html | null> {
  const scenarios = await reading.rows<{ scenario: string }>(
    "SELECT exhibit::VARCHAR AS scenario FROM events WHERE exhibit IS NOT NULL GROUP BY ALL ORDER BY scenario",
  );
  if (scenarios.length === 0) return null;
  const blocks: Html[] = [];
  for (const [index, { scenario }] of scenarios.entries()) {
    const lines = await reading.rows<JournalLine & Row>(
      `SELECT ${LINE} FROM events WHERE exhibit::VARCHAR = $scenario ORDER BY arm::VARCHAR, event_index`,
      { scenario },
    );
    const seed = lines[0]!.seed;
    blocks.push(html`<div class="exhibit"><h3 class="exhibit-name">${scenario}</h3>
<p class="note">Seed ${seed}, replicate 1, alone in its world. An exhibit shows how it happens, not how often.</p>
${await figure(scenario, outerLimit(lines), `exhibit-${index + 1}`)}
${journalsOf(lines, arms, names, scenario)}</div>`);
  }
  return html`${blocks}`;
}

/** The columns of `events` that a journal line is made of. */
export const LINE =
  "arm::VARCHAR AS arm, seed, at_seconds, event::VARCHAR AS event, call_index, request_index, process_id, until_seconds, journal";

/** Each arm's journal beside the others'. */
export function journalsOf(lines: readonly JournalLine[], arms: readonly Arm[], names: Names, of: string): Html {
  const printed = arms.flatMap(({ row: { arm } }) => {
    const own = lines.filter((line) => line.arm === arm);
    if (own.length === 0) return [];
    return [
      html`<section class="journal" aria-label="journal of ${of} under ${names.of(arm)}"><h4>${names.chip(arm)}</h4>
<pre tabindex="0">${own.flatMap(printedLine).join("\n")}</pre></section>`,
    ];
  });
  return printed.length <= OPEN
    ? html`<div class="journals">${printed}</div>`
    : html`<details><summary>${counted(printed.length, "journal")}</summary><div class="journals">${printed}</div></details>`;
}

/**
 * When the harness cut a trial off, which is all that the tables know of an exhibit's limit; null if it cut none. Whoever goes on
 * after a cut may see another.
 */
export function outerLimit(lines: readonly JournalLine[]): number | null {
  const cuts = lines.filter(({ event }) => event === "cut_off").map(({ at_seconds }) => at_seconds);
  return cuts.length === 0 ? null : Math.min(...cuts);
}

function printedLine({ at_seconds, journal }: JournalLine): readonly string[] {
  return journal === null ? [] : [lineOf(at_seconds, journal)];
}
