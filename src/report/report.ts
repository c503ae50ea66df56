/**
 * The report of a run: one self-contained HTML file, and the same in short as a summary.
 *
 * Everything comes from the tables of the file and from a report definition, so any report can be made again later. The file
 * is opened for reading only; what is worked out here lies in temporary tables and is gone afterwards.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Reading, readStore } from "../telemetry/store.ts";
import { tellAnswers } from "./answers.ts";
import { ARMS_ACROSS, armsBlock, differencesShown, measuresBlock } from "./armsSection.ts";
import { called, placesOf, variedIn } from "./cellPlaces.ts";
import { type AskedInCells, askInCells, comparisonsInCells, tellCells } from "./cells.ts";
import { type Chart, ChartMaker, type Row } from "./chart.ts";
import {
  DEFAULT_DEFINITION,
  type Definition,
  filled,
  GALLERY_DEFINITION,
  loadDefinition,
  MEASURED_DEFINITION,
  type Part,
  SENSITIVITY_DEFINITION,
  type Section,
  type Spec,
} from "./definition.ts";
import { CONFIDENCE, type Comparison, type Estimates, estimate, type Scope } from "./estimates.ts";
import { exhibitsBlock } from "./exhibits.ts";
import { type Experiment, type Hypothesis, ReportError, readExperiment } from "./experiment.ts";
import { type Exploration, explore } from "./exploratory.ts";
import { galleryBlock, type Observed, observedOf } from "./gallery.ts";
import { type Html, html, trusted } from "./html.ts";
import {
  capital,
  type JudgedFigure,
  type JudgedHypothesis,
  judgeHypotheses,
  judgePublished,
  type UnjudgedFigure,
} from "./judged.ts";
import { type Measure, measureCalled } from "./measures.ts";
import { type PageSection, page } from "./page.ts";
import { dictionaryBlock, provenanceBlock } from "./provenance.ts";
import { redact } from "./redact.ts";
import { type BothWays, countSetAside } from "./setAside.ts";
import { type Summary, summaryOf } from "./summary.ts";
import { conventionsFor } from "./theme.ts";
import { countTimeouts, type Timeouts, thinBlock } from "./thin.ts";
import { type Tradeoffs, tradeoffsOf } from "./tradeoffs.ts";
import { trialsBlock } from "./trials.ts";
import { publishedBlock } from "./validity.ts";
import { hero, verdictSection } from "./verdict.ts";
import { counted, dataTable, kept, listed, Names, scrolling } from "./words.ts";
import { type Counted, countZeros } from "./zeros.ts";

export { ReportError } from "./experiment.ts";
export type { Summary } from "./summary.ts";

export interface ReportOptions {
  /** Folder of a report definition; if none is named the one that ships, for a gallery or for all else. */
  readonly definition?: string;
  /** The one thing in a page that does not come from the run. */
  readonly madeAt?: Date;
  /** Whether command lines are withheld. */
  readonly redact?: boolean;
}

/** Makes the page, beside its place first and then renamed, so that no half of one is ever found there. */
export async function writeReport(
  databasePath: string,
  htmlPath: string,
  options: ReportOptions = {},
): Promise<Summary> {
  return reading(databasePath, options, async (tables) => {
    const experiment = await readExperiment(tables);
    const definition = definitionFor(experiment, options);
    const findings = await find(tables, experiment, definition);
    const markup = await drawn(tables, definition, findings, options.madeAt ?? new Date());
    writeWhole(htmlPath, markup);
    return findings.summary;
  });
}

/** The same answers without the page. */
export async function summarise(databasePath: string, options: ReportOptions = {}): Promise<Summary> {
  return reading(databasePath, options, async (tables) => {
    const experiment = await readExperiment(tables);
    return (await find(tables, experiment, definitionFor(experiment, options))).summary;
  });
}

function definitionFor({ arms, cases, measured, hasCalls }: Experiment, { definition }: ReportOptions): Definition {
  if (arms.some(({ cell }) => cell !== null)) return loadDefinition(definition ?? SENSITIVITY_DEFINITION);
  const own = measured && !hasCalls ? MEASURED_DEFINITION : DEFAULT_DEFINITION;
  return loadDefinition(definition ?? (cases.length > 0 ? GALLERY_DEFINITION : own));
}

async function reading<Result>(
  databasePath: string,
  { redact: withheld = false }: ReportOptions,
  work: (tables: Reading) => Promise<Result>,
): Promise<Result> {
  const tables = await readStore(databasePath);
  try {
    if (withheld) await redact(tables);
    return await work(tables);
  } finally {
    await tables.close();
  }
}

function writeWhole(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const beside = join(dirname(path), `.${basename(path)}.${process.pid}.part`);
  try {
    writeFileSync(beside, content);
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw new ReportError(`${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** Everything that was worked out, before any of it is shown. */
interface Findings {
  readonly experiment: Experiment;
  readonly names: Names;
  readonly comparisons: readonly Comparison[];
  readonly estimates: Estimates;
  readonly hypotheses: readonly JudgedHypothesis[];
  readonly exploration: Exploration;
  /** Null where the infrastructure failed no trial. */
  readonly bothWays: BothWays | null;
  readonly judged: readonly JudgedFigure[];
  readonly unjudged: readonly UnjudgedFigure[];
  /** Null where there is nothing to weigh. */
  readonly tradeoffs: Tradeoffs | null;
  /** What hypotheses come to in every cell; empty where the panel varies nothing. */
  readonly asked: readonly AskedInCells[];
  /** What was seen of each trial of a gallery; empty elsewhere. */
  readonly observed: readonly Observed[];
  readonly sentence: string;
  /** Outer timeouts of each arm, counted. */
  readonly thin: ReadonlyMap<string, Timeouts>;
  readonly summary: Summary;
}

async function find(tables: Reading, experiment: Experiment, definition: Definition): Promise<Findings> {
  if (experiment.worlds.length === 0 || experiment.arms.length === 0) {
    throw new ReportError("the file holds no finished replicate, so there is nothing to report: run the panel again");
  }
  const names = new Names(experiment);
  const isGallery = experiment.cases.length > 0;
  // Arms of a gallery meet other scenarios in each case: there is nothing to compare or to weigh across them.
  const isVaried = placesOf(experiment).length > 0;
  const comparisons = isGallery ? [] : isVaried ? comparedInOwnCell(experiment) : comparisonsOf(experiment);
  const declared = new Set(experiment.hypotheses.map(keyOf));
  const bootstrapped =
    (kind?: string) =>
    ({ arm, against }: Comparison, { measure }: Measure) =>
      declared.has(key(arm, against, measure, kind ?? ""));
  const estimates = isVaried
    ? await estimate(tables, experiment, comparisonsInCells(experiment), bootstrapped(), askedOf(experiment))
    : await estimate(tables, experiment, comparisons, bootstrapped());
  const asked = isVaried ? askInCells(experiment, estimates) : [];
  const byKind = new Map<string, Estimates>();
  for (const [kind, measures] of kindsDeclared(experiment)) {
    const scope = { kind, measures };
    byKind.set(kind, await estimate(tables, experiment, comparisons, bootstrapped(kind), scope));
  }
  const among = (kind: string | undefined) => (kind === undefined ? estimates : byKind.get(kind)!);
  const zeros = await countZeros(tables, experiment);
  const hypotheses = judgeHypotheses(experiment, { among, zeros }, names.of);
  const setAside = await countSetAside(tables);
  const bothWays =
    setAside.length === 0 || isGallery || isVaried
      ? null
      : { arms: setAside, counted: await judgedWithFailed(tables, experiment, comparisons, zeros, names) };
  const exploration = explore(differencesShown(experiment, estimates, comparisons), hypotheses);
  const { judged, unjudged } = judgePublished(experiment, estimates);
  const tradeoffs = isGallery || isVaried ? null : tradeoffsOf(experiment, estimates);
  if (isVaried) await tellCells(tables, asked);
  else await tellAnswers(tables, experiment, comparisons, estimates, judged, tradeoffs);
  const sentence = (await answerOf(tables, `${definition.answer}.sql`, definition.query(definition.answer))) ?? "";
  const observed = isGallery ? await observedIn(tables, experiment, definition) : [];
  const summary = summaryOf(
    experiment,
    estimates,
    comparisons,
    CONFIDENCE,
    sentence,
    hypotheses,
    exploration,
    bothWays,
    judged,
    tradeoffs,
    observed,
    asked,
  );
  return {
    experiment,
    names,
    comparisons,
    estimates,
    hypotheses,
    exploration,
    bothWays,
    judged,
    unjudged,
    tradeoffs,
    asked,
    observed,
    sentence,
    thin: await countTimeouts(tables),
    summary,
  };
}

/** What hypotheses compare in the cell in which nothing is changed. */
function comparedInOwnCell({ hypotheses }: Experiment): readonly Comparison[] {
  return hypotheses.flatMap(({ arm, against }) => (against === undefined ? [] : [{ arm, against }]));
}

/** Of many arms only what is asked is estimated. */
function askedOf({ asked }: Experiment): Scope {
  const measures = asked.flatMap(({ measure }) => measureCalled(measure) ?? []);
  return { kind: null, measures: [...new Set(measures)] };
}

/** The same hypotheses where trials that the infrastructure failed are counted too. */
async function judgedWithFailed(
  tables: Reading,
  experiment: Experiment,
  comparisons: readonly Comparison[],
  zeros: ReadonlyMap<Hypothesis, Counted>,
  names: Names,
): Promise<readonly JudgedHypothesis[]> {
  const found = new Map<string | undefined, Estimates>();
  const measures = experiment.hypotheses.flatMap(({ measure }) => measureCalled(measure) ?? []);
  for (const kind of new Set(experiment.hypotheses.map((each) => each.kind))) {
    const scope = { kind: kind ?? null, measures: [...new Set(measures)], withFailed: true };
    found.set(kind, await estimate(tables, experiment, comparisons, () => false, scope));
  }
  return judgeHypotheses(experiment, { among: (kind) => found.get(kind)!, zeros }, names.of);
}

const key = (...parts: readonly string[]) => parts.join("\0");
const keyOf = ({ arm, against = "", measure, kind = "" }: Hypothesis) => key(arm, against, measure, kind);

/** Kinds of trials that hypotheses are restricted to, and the measures that they speak of. */
function kindsDeclared({ hypotheses }: Experiment): ReadonlyMap<string, readonly Measure[]> {
  const declared = new Map<string, readonly Measure[]>();
  for (const { kind, measure } of hypotheses) {
    const known = measureCalled(measure);
    if (kind !== undefined)
      declared.set(kind, [...(declared.get(kind) ?? []), ...(known === undefined ? [] : [known])]);
  }
  return new Map([...declared].map(([kind, measures]) => [kind, [...new Set(measures)]]));
}

/** Every arm against the first; where they are few, against the one before it too; and whatever a hypothesis compares. */
function comparisonsOf({ arms, hypotheses }: Experiment): readonly Comparison[] {
  const order = arms.map(({ row }) => row.arm);
  const neighbours =
    order.length <= ARMS_ACROSS - 1 ? order.slice(2).map((arm, at) => ({ arm, against: order[at + 1]! })) : [];
  const wanted = [
    ...order.slice(1).map((arm) => ({ arm, against: order[0]! })),
    ...neighbours,
    ...hypotheses.flatMap(({ arm, against }) => (against === undefined ? [] : [{ arm, against }])),
  ].filter(({ arm, against }) => arm !== against && order.includes(arm) && order.includes(against));
  return [...new Map(wanted.map((each) => [key(each.arm, each.against), each])).values()];
}

async function observedIn(
  tables: Reading,
  experiment: Experiment,
  definition: Definition,
): Promise<readonly Observed[]> {
  const { observed } = definition;
  if (observed === undefined)
    throw new ReportError("the definition has no observed: a gallery shows what that query finds");
  return observedOf(experiment, await ask(tables, `${observed}.sql`, definition.query(observed)));
}

type Parameters = Record<string, string | number | null>;

/** @param name of the query, for the message if it fails */
async function ask(tables: Reading, name: string, query: string, parameters?: Parameters): Promise<readonly Row[]> {
  try {
    return await tables.rows<Record<string, unknown>>(query, parameters);
  } catch (error) {
    throw new ReportError(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

async function answerOf(tables: Reading, name: string, query: string, parameters?: Parameters): Promise<string | null> {
  const [row] = await ask(tables, name, query, parameters);
  return typeof row?.["answer"] === "string" ? row["answer"] : null;
}

async function drawn(tables: Reading, definition: Definition, findings: Findings, madeAt: Date): Promise<string> {
  const { experiment, names, hypotheses, bothWays, sentence, estimates } = findings;
  const basis = experiment.measured ? definition.measured : definition.simulated;
  const verdict = { experiment, names, hypotheses, bothWays, answer: sentence, basis, estimates };
  const composer = new Composer(tables, definition, findings, await ChartMaker.open(conventionsFor(experiment)));
  const sections: PageSection[] =
    experiment.cases.length > 0 ? [] : [{ id: "verdict", nav: "Verdict", content: verdictSection(verdict) }];
  for (const section of definition.sections) {
    const content = await composer.section(section);
    if (content !== null) sections.push({ id: section.section, nav: section.nav, content });
  }
  return page({
    title: `${experiment.row.panel} – yieldpoint`,
    hero: hero(verdict),
    sections,
    charts: composer.charts,
    style: definition.file("page.css"),
    script: definition.file("page.js"),
    madeAt,
    digest: experiment.digest,
  });
}

/** What lies across and down in a chart of cells, and what in its columns and rows. */
function directions(asked: readonly AskedInCells[]): Readonly<Record<string, string>> {
  const [across = "", down = "", ...others] = variedIn(asked[0]?.cells ?? []);
  if (across === "") return {};
  return {
    cells: String(asked[0]!.cells.length),
    across: called(across),
    down: called(down),
    others: listed(others.map(called)),
  };
}

const CELLS_NOTE =
  "Across: {across}. Down: {down}. ✓ PASS, ✗ FAIL, ○ NOT SHOWN, each cell judged alone at 5 %; the figure is the difference, of shares in percentage points, and the deeper the colour the larger it is. The framed cell is the one in which nothing is changed.";

/** A spec with its titles filled in as words are. */
function titled(spec: Spec, facts: Readonly<Record<string, string>>): Spec {
  const walked = (node: unknown, key: string): unknown => {
    if (typeof node === "string") return key === "title" ? filled(node, facts) : node;
    if (Array.isArray(node)) return node.map((each) => walked(each, key));
    if (typeof node !== "object" || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, walked(value, name)]));
  };
  return walked(spec, "") as Spec;
}

/** A table stands open up to so many rows. */
const OPEN_ROWS = 24;

/** Turns the parts of a definition into page, and keeps the charts it has drawn on the way. */
class Composer {
  readonly charts: Chart[] = [];
  readonly #tables: Reading;
  readonly #definition: Definition;
  readonly #findings: Findings;
  readonly #maker: ChartMaker;
  readonly #facts: Readonly<Record<string, string>>;

  constructor(tables: Reading, definition: Definition, findings: Findings, maker: ChartMaker) {
    this.#tables = tables;
    this.#definition = definition;
    this.#findings = findings;
    this.#maker = maker;
    const { row, worlds, arms } = findings.experiment;
    this.#facts = {
      panel: row.panel,
      tasks: String(row.tasks),
      replicates: String(worlds.length),
      arms: String(arms.length),
      first_arm: arms[0]!.label,
      ...directions(findings.asked),
    };
  }

  /** Null where nothing in it has anything to show. */
  async section({ section, title, lead, parts }: Section): Promise<Html | null> {
    const shown: Html[] = [];
    for (const part of parts) {
      const content = await this.#part(part);
      if (content !== null) shown.push(content);
    }
    if (shown.length === 0) return null;
    return html`<section id="${section}" aria-labelledby="${section}-title"><h2 id="${section}-title">${title}</h2>
${lead !== undefined && html`<p class="lead">${filled(lead, this.#facts)}</p>`}
${shown}
</section>`;
  }

  async #part(part: Part): Promise<Html | null> {
    if ("show" in part) return this.#shown(part.show);
    const { experiment, judged } = this.#findings;
    const name = "chart" in part ? part.chart : part.table;
    const needs = [part.needs ?? []].flat();
    if (needs.includes("published") && judged.length === 0) return null;
    if (needs.includes("requests") && !experiment.hasRequests) return null;
    if (needs.includes("tradeoffs") && this.#findings.tradeoffs === null) return null;
    if (needs.includes("oracle") && !experiment.hasOracle) return null;
    if (needs.includes("calls") && !experiment.hasCalls) {
      return html`<figure class="absent"><h3>${part.question}</h3><p>Needs <code>--detail calls</code>: this run kept trials only.</p></figure>`;
    }
    return this.#figure(name, name, part, "chart" in part, {});
  }

  async #shown(block: Extract<Part, { show: string }>["show"]): Promise<Html | null> {
    const { experiment, estimates, comparisons, exploration, judged, unjudged, names } = this.#findings;
    switch (block) {
      case "arms":
        return armsBlock(experiment, names);
      case "measures":
        return measuresBlock(experiment, estimates, comparisons, exploration, names);
      case "thin":
        return thinBlock(experiment, comparisons, this.#findings.thin, names);
      case "cases":
        return galleryBlock(this.#tables, experiment, this.#findings.observed);
      case "cells": {
        const figures: Html[] = [];
        for (const [at, { what }] of this.#findings.asked.entries()) {
          const words = { question: `${capital(what)}?`, note: CELLS_NOTE };
          figures.push(await this.#figure("cells", `cells-${at + 1}`, words, true, { hypothesis: at + 1 }));
        }
        return figures.length === 0 ? null : html`${figures}`;
      }
      case "exhibits":
        return exhibitsBlock(this.#tables, experiment, names, (scenario, limit, name) =>
          this.#timeline(name, limit, { scenario, pair: null }),
        );
      case "trials":
        return trialsBlock(this.#tables, experiment, names, (pair, limit, name) =>
          this.#timeline(name, limit, { scenario: null, pair }),
        );
      case "published":
        return publishedBlock(judged, unjudged, names);
      case "provenance":
        return provenanceBlock(experiment, names);
      case "dictionary":
        return dictionaryBlock();
    }
  }

  /** What holds the model in one trial under each arm, and until when. */
  #timeline(name: string, limit: number | null, which: Parameters): Promise<Html> {
    const question = "What holds the model, and until when?";
    const note = "The line on the right is the outer limit; the mark before it is where a told arm's reserve begins.";
    const part = { question, note: limit === null ? "" : note };
    return this.#figure(this.#definition.exhibit ?? "exhibit", name, part, true, { ...which, limit });
  }

  /**
   * A query's rows, drawn if they have a spec, and as a table always.
   *
   * @param query the name of its files
   * @param name what it is called in the page
   */
  async #figure(
    query: string,
    name: string,
    { question, note }: { readonly question: string; readonly note?: string | undefined },
    isDrawn: boolean,
    parameters: Parameters,
  ): Promise<Html> {
    const { names } = this.#findings;
    const given = Object.keys(parameters).length === 0 ? undefined : parameters;
    const rows = await ask(this.#tables, `${query}.sql`, this.#definition.query(query), given);
    const answers = this.#definition.answerQuery(query);
    const answer = answers === null ? null : await answerOf(this.#tables, `${query}.answer.sql`, answers, given);
    const told =
      note === undefined || note === "" ? null : html`<p class="note">${kept(filled(note, this.#facts))}</p>`;
    const head = html`<h3 id="chart-${name}-title">${filled(question, this.#facts)}</h3>`;
    const data = scrolling(`${question}: the data`, dataTable(question, rows, names));
    if (rows.length === 0) {
      return html`<figure class="absent">${head}<p>There is nothing to show: no row of this run is of that kind.</p></figure>`;
    }
    if (!isDrawn) {
      const shown =
        rows.length <= OPEN_ROWS
          ? data
          : html`<details><summary>${counted(rows.length, "row")}</summary>${data}</details>`;
      return html`<figure class="data" aria-labelledby="chart-${name}-title">${head}${answer !== null && html`<p class="answer">${kept(answer)}</p>`}${told}${shown}</figure>`;
    }
    const chart = await this.#maker.make(name, titled(this.#definition.spec(query), this.#facts), rows);
    this.charts.push(chart);
    return html`<figure class="chart" id="chart-${name}" aria-labelledby="chart-${name}-title">${head}
<div class="drawing" data-chart="${name}" role="img" aria-label="${question} ${answer ?? ""} The data table below says the same.">
<div class="still wide">${trusted(chart.wide.svg)}</div><div class="still narrow">${trusted(chart.narrow.svg)}</div></div>
<figcaption>${answer !== null && html`<p class="answer">${kept(answer)}</p>`}${told}</figcaption>
<details><summary>The data behind it, ${counted(rows.length, "row")}</summary>${data}</details></figure>`;
  }
}
