/**
 * Cells: where a panel varies what is around its arms, its hypotheses are asked anew under every combination of levels.
 *
 * Each cell is judged by itself, at the level of one hypothesis: what is looked for is where an answer turns, not one more answer.
 * The panel's own verdict is that of the cell in which nothing is changed, and only there are hypotheses a family.
 */
import type { Reading } from "../telemetry/store.ts";
import { make, type Value } from "./answers.ts";
import { type CellPlace, called, levelInWords, levelsOf, placeOf, placesOf, variedIn } from "./cellPlaces.ts";
import { decide, declaration } from "./declared.ts";
import type { Comparison, Estimates } from "./estimates.ts";
import type { Experiment, Hypothesis } from "./experiment.ts";
import { capital } from "./judged.ts";
import { measureCalled } from "./measures.ts";
import { decimalsOf, fixed, quantity, type Unit } from "./numbers.ts";
import { listed } from "./words.ts";

type Verdict = "PASS" | "FAIL" | "NOT SHOWN";

export interface JudgedCell extends Omit<CellPlace, "arms"> {
  readonly verdict: Verdict;
  /** Null where nothing was compared; then all that follows is null too. */
  readonly effect: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** Two-sided, of this cell alone. */
  readonly p: number | null;
  readonly n: number;
}

/** How often a hypothesis passes where something varied has this level. */
interface LevelCount {
  readonly name: string;
  readonly level: string;
  readonly cells: number;
  readonly passed: number;
  readonly failed: number;
  /** Mean over its cells. */
  readonly effect: number;
}

/** One hypothesis in every cell. */
export interface AskedInCells {
  readonly hypothesis: Hypothesis;
  readonly what: string;
  readonly cells: readonly JudgedCell[];
  readonly levels: readonly LevelCount[];
  /** By what is varied, the most important first: its share of how the effect varies between cells, whatever the other levels are. */
  readonly matters: readonly { readonly name: string; readonly share: number }[];
  /** Where it passes, where it turns, and what matters most. */
  readonly sentence: string;
  /** What else is to be said below its chart. */
  readonly detail: string;
}

/** In every cell what a hypothesis compares. */
export function comparisonsInCells(experiment: Experiment): readonly Comparison[] {
  const found = new Map<string, Comparison>();
  for (const { arms } of placesOf(experiment)) {
    for (const { arm, against } of experiment.asked) {
      const [own, other] = [arms.get(arm), against === undefined ? undefined : arms.get(against)];
      if (own === undefined || other === undefined) continue;
      found.set(JSON.stringify([own.row.arm, other.row.arm]), { arm: own.row.arm, against: other.row.arm });
    }
  }
  return [...found.values()];
}

export function askInCells(experiment: Experiment, estimates: Estimates): readonly AskedInCells[] {
  const places = placesOf(experiment);
  return experiment.asked.map((hypothesis) => {
    const { arm, against = "", measure } = hypothesis;
    const cells = places.map(({ arms, ...place }): JudgedCell => {
      const [own, other] = [arms.get(arm), arms.get(against)];
      const difference =
        own === undefined || other === undefined
          ? undefined
          : estimates.difference(own.row.arm, other.row.arm, measure);
      if (difference === undefined)
        return { ...place, verdict: "NOT SHOWN", effect: null, low: null, high: null, p: null, n: 0 };
      const decided = experiment.withheld === null ? decide(hypothesis, difference) : null;
      const { value: effect, low, high, n } = difference;
      if (decided === null || "why" in decided)
        return { ...place, verdict: "NOT SHOWN", effect, low, high, p: null, n };
      return { ...place, verdict: decided.verdict, effect, low, high, p: decided.p, n };
    });
    const levels = levelCounts(cells);
    const matters = mattering(cells);
    const unit = measureCalled(measure)?.unit ?? "count";
    const what = `${measureCalled(measure)?.title ?? measure} ${declaration(hypothesis, unit)} under ${arm} than under ${against}`;
    return {
      hypothesis,
      what,
      cells,
      levels,
      matters,
      sentence: inWords(what, cells, levels, matters),
      detail: inDetail(cells, levels, matters, unit),
    };
  });
}

function levelCounts(cells: readonly JudgedCell[]): readonly LevelCount[] {
  return variedIn(cells).flatMap((name) =>
    levelsOf(cells, name).map((level) => {
      const those = cells.filter(({ levels }) => levels[name] === level);
      return {
        name,
        level,
        cells: those.length,
        passed: those.filter(({ verdict }) => verdict === "PASS").length,
        failed: those.filter(({ verdict }) => verdict === "FAIL").length,
        effect: mean(those.map(({ effect }) => effect ?? 0)),
      };
    }),
  );
}

/** Shares of the sum of squares between cells: every combination is there once, so those of different names do not overlap. */
function mattering(cells: readonly JudgedCell[]): AskedInCells["matters"] {
  const effects = cells.map(({ effect }) => effect ?? 0);
  const middle = mean(effects);
  const all = effects.reduce((sum, effect) => sum + (effect - middle) ** 2, 0);
  return variedIn(cells)
    .map((name) => {
      const between = levelsOf(cells, name).reduce((sum, level) => {
        const those = cells.filter(({ levels }) => levels[name] === level).map(({ effect }) => effect ?? 0);
        return sum + those.length * (mean(those) - middle) ** 2;
      }, 0);
      return { name, share: all === 0 ? 0 : between / all };
    })
    .toSorted((one, other) => other.share - one.share);
}

const mean = (values: readonly number[]) =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** A share that is worth a word of its own. */
const MATTERS = 0.1;

function inWords(
  what: string,
  cells: readonly JudgedCell[],
  levels: readonly LevelCount[],
  matters: AskedInCells["matters"],
): string {
  const passing = (among: readonly JudgedCell[]) => among.filter(({ verdict }) => verdict === "PASS").length;
  const failed = cells.filter(({ verdict }) => verdict === "FAIL");
  const fails = failed.length === 0 ? "and fails in none" : `and fails in ${failed.length}`;
  const sentences = [`${capital(what)}: that passes in ${passing(cells)} of ${cells.length} cells ${fails}.`];
  const never = levels.filter(({ passed }) => passed === 0);
  if (passing(cells) > 0 && never.length > 0) {
    const rest = cells.filter((cell) => never.every(({ name, level }) => cell.levels[name] !== level));
    const where = never.map(({ name, level }) => `where ${isAt(name, [level])}`).join(", nor ");
    const elsewhere = passing(rest) === rest.length ? "in every cell" : `in ${passing(rest)} of ${rest.length} cells`;
    sentences.push(`It is shown nowhere ${where}, and elsewhere ${elsewhere}.`);
  } else if (passing(cells) > 0 && passing(cells) < cells.length) sentences.push("No level turns it by itself.");
  const common = failed.length === cells.length ? [] : commonTo(failed, cells);
  if (common.length > 0) sentences.push(`Where it fails, ${listed(common)}.`);
  const [first, second] = matters;
  if (first !== undefined && first.share > 0) {
    const then = second !== undefined && second.share >= MATTERS ? `, then the ${called(second.name)}` : "";
    sentences.push(`The ${called(first.name)} matters most${then}.`);
  }
  return sentences.join(" ");
}

/** What is left to say below a chart: where the rest of what does not pass lies, and by how much the effect varies. */
function inDetail(
  cells: readonly JudgedCell[],
  levels: readonly LevelCount[],
  matters: AskedInCells["matters"],
  unit: Unit,
): string {
  const never = levels.filter(({ passed }) => passed === 0);
  const rest = cells.filter((cell) => never.every(({ name, level }) => cell.levels[name] !== level));
  const open = rest.filter(({ verdict }) => verdict !== "PASS");
  const sentences: string[] = [];
  const [most] = levelCounts(rest)
    .map((level) => ({ ...level, open: level.cells - level.passed }))
    .toSorted((one, other) => other.open - one.open);
  if (most !== undefined && open.length < rest.length && most.open * 2 > open.length) {
    const those =
      never.length === 0
        ? `Of the ${open.length} cells where it does not pass`
        : `Of the other ${open.length} where it does not pass`;
    sentences.push(`${those}, ${isAt(most.name, [most.level])} in ${most.open === open.length ? "all" : most.open}.`);
  }
  const [first] = matters;
  if (first !== undefined && first.share > 0) {
    const own = levels.filter(({ name }) => name === first.name);
    const [from, to] = [own[0]!, own.at(-1)!];
    const at = ({ level }: LevelCount) => levelInWords(first.name, level);
    sentences.push(
      `The ${called(first.name)} accounts for ${share(first.share)} of how the difference varies between cells: on average it is ${amountOf(from.effect, unit)} at ${at(from)} and ${amountOf(to.effect, unit)} at ${at(to)}.`,
    );
  }
  return sentences.join(" ");
}

/** What those have in common that the others have not all. */
function commonTo(those: readonly JudgedCell[], cells: readonly JudgedCell[]): readonly string[] {
  return variedIn(cells).flatMap((name) => {
    const own = levelsOf(those, name);
    return own.length > 0 && own.length < levelsOf(cells, name).length ? [isAt(name, own)] : [];
  });
}

function isAt(name: string, levels: readonly string[]): string {
  return `the ${called(name)} is ${levels.map((level) => levelInWords(name, level)).join(" or ")}`;
}

const share = (of: number) => `${fixed(of * 100, 0)} %`;

function amountOf(effect: number, unit: Unit): string {
  const text = quantity(Math.abs(effect), unit, unit === "share" ? 1 : undefined).replace(/ %$/, " points");
  const sign = /^[0.]* /.test(text) ? "" : effect < 0 ? "−" : "+";
  return `${sign}${text}`;
}

/** Cells as tables: reports/sensitivity/report.yaml lists them. */
export async function tellCells(reading: Reading, asked: readonly AskedInCells[]): Promise<void> {
  await make(
    reading,
    "cells",
    "hypothesis INTEGER, cell INTEGER, across VARCHAR, down VARCHAR, place VARCHAR, own BOOLEAN, verdict VARCHAR, effect DOUBLE, low DOUBLE, high DOUBLE, p DOUBLE, n INTEGER, shown VARCHAR, strength DOUBLE",
    asked.flatMap(({ hypothesis, cells }, index) => {
      const [across = "", down = "", ...others] = variedIn(cells);
      const unit = measureCalled(hypothesis.measure)?.unit ?? "count";
      const greatest = Math.max(...cells.map(({ effect }) => Math.abs(effect ?? 0))) || 1;
      return cells.map(({ cell, levels, isOwn, verdict, effect, low, high, p, n }): Value[] => [
        index + 1,
        cell,
        levelInWords(across, levels[across] ?? ""),
        levelInWords(down, levels[down] ?? ""),
        placeOf(levels, others),
        isOwn ? 1 : 0,
        verdict,
        effect,
        low,
        high,
        p,
        n,
        effect === null ? "–" : shortly({ value: effect, low, high }, unit),
        Math.abs(effect ?? 0) / greatest,
      ]);
    }),
  );
  await make(
    reading,
    "cell_levels",
    "hypothesis INTEGER, position INTEGER, says VARCHAR, varied VARCHAR, level VARCHAR, cells INTEGER, passed INTEGER, failed INTEGER, effect DOUBLE, unit VARCHAR, matters DOUBLE",
    asked.flatMap(({ hypothesis, what, levels, matters }, index) =>
      levels.map(({ name, level, cells, passed, failed, effect }, at): Value[] => [
        index + 1,
        at + 1,
        what,
        called(name),
        levelInWords(name, level),
        cells,
        passed,
        failed,
        effect,
        measureCalled(hypothesis.measure)?.unit ?? "count",
        matters.find((each) => each.name === name)!.share,
      ]),
    ),
  );
  await make(
    reading,
    "cell_answers",
    "hypothesis INTEGER, says VARCHAR, sentence VARCHAR, detail VARCHAR",
    asked.map(({ what, sentence, detail }, index): Value[] => [index + 1, what, sentence, detail]),
  );
}

/** A difference on little room, its unit told elsewhere. */
function shortly(figure: { value: number; low: number | null; high: number | null }, unit: Unit): string {
  const scaled = unit === "share" ? figure.value * 100 : figure.value;
  const text = fixed(Math.abs(scaled), unit === "share" ? 1 : Math.min(decimalsOf(figure, unit), 1));
  return /^[0.]*$/.test(text) ? "0" : `${scaled < 0 ? "−" : "+"}${text}`;
}
