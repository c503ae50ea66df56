/** Arms side by side: what they differ in, and every measure with its paired differences. */
import type { Comparison, Difference, Estimates } from "./estimates.ts";
import type { Arm, Experiment } from "./experiment.ts";
import type { Exploration } from "./exploratory.ts";
import { type Html, html } from "./html.ts";
import { MEASURES, type Measure } from "./measures.ts";
import { changeIntervalOf, changeOf, intervalOf, relative, shownValue, type Unit, whole } from "./numbers.ts";
import { counted, listed, type Names, scrolling, table } from "./words.ts";

/** Arms stand in columns up to this many; more read better as rows. */
export const ARMS_ACROSS = 5;

/** Arms that have a name of their own say what they are, one line each, up to so many. */
const ARMS_TOLD = 24;

/** Where many arms differ in more than this, the table is for those who ask. */
const ASPECTS_OPEN = 12;

export function armsBlock({ arms, declaredFactors, row: { crossed } }: Experiment, names: Names): Html {
  const aspects = differing(arms, declaredFactors);
  const confounded =
    !crossed && declaredFactors.length > 1
      ? html`<p>Arms differ in ${listed(declaredFactors)} at once: a difference between two of them cannot be put down to one of these alone.</p>`
      : null;
  const told = arms.length <= ARMS_ACROSS || (!crossed && arms.length <= ARMS_TOLD);
  const says = html`<ul class="says">${told && arms.map(({ row }) => html`<li>${names.chip(row.arm)} <span>${row.says}</span></li>`)}</ul>`;
  const across = arms.length <= ARMS_ACROSS;
  const differences = across
    ? table(
        "What arms differ in",
        [{ head: "differs" }, ...arms.map(({ row }) => ({ head: names.chip(row.arm) }))],
        aspects.map(({ aspect, level }) => [html`<code>${aspect}</code>`, ...arms.map(level)]),
      )
    : table(
        "What arms differ in",
        [{ head: "arm" }, ...aspects.map(({ aspect }) => ({ head: html`<code>${aspect}</code>` }))],
        arms.map((arm) => [names.chip(arm.row.arm), ...aspects.map(({ level }) => level(arm))]),
      );
  const many = !across && aspects.length > ASPECTS_OPEN;
  const shown = scrolling("What arms differ in", differences);
  return html`${told ? says : null}${confounded}${
    aspects.length === 0
      ? html`<p>${arms.length === 1 ? "There is one arm, and nothing to compare it with." : "The arms are alike in every setting: this is an A/A panel, and differences are chance."}</p>`
      : many
        ? html`<details><summary>What arms differ in, ${counted(aspects.length, "setting")}</summary>${shown}</details>`
        : shown
  }
<details><summary>Every arm in full</summary>
<p class="note">The resolved policy, lengths in seconds. Rows in which arms differ are marked.</p>
${scrolling("Settings of every arm", settingsTable(arms, names))}
${arms.map(({ row, habits, provider, host }) => html`<h3 class="minor">${names.chip(row.arm)} <bdi class="quiet">${row.arm}</bdi></h3><p>${row.says}</p><pre class="json" tabindex="0">${JSON.stringify({ ...habits, ...(provider && { provider }), ...(host && { host }) }, null, 2)}</pre>`)}
</details>`;
}

interface Aspect {
  readonly aspect: string;
  readonly level: (arm: Arm) => string;
}

/** Policy, profile, budget and every setting, where two arms differ in them. */
function differing(arms: readonly Arm[], declared: readonly string[]): readonly Aspect[] {
  const own: readonly Aspect[] = [
    { aspect: "policy", level: ({ row }) => row.policy },
    { aspect: "profile", level: ({ row }) => row.profile },
    { aspect: "budget", level: ({ row }) => row.budget },
    ...outsideAspects(arms),
    ...settingKeys(arms).map((key) => ({ aspect: key, level: (arm: Arm) => spelled(arm.settings[key]) })),
  ];
  const pattern = ({ level }: Aspect) => JSON.stringify(arms.map(level));
  const differ = ({ level }: Aspect) => new Set(arms.map(level)).size > 1;
  const told = new Set(own.map(pattern));
  // A factor most often is one of the above under a shorter name.
  const factors = declared
    .map((factor) => ({ aspect: factor, level: (arm: Arm) => arm.factors[factor] ?? "–" }))
    .filter((factor) => !told.has(pattern(factor)));
  return [...own, ...factors].filter(differ);
}

/** What arms are given beside their policy, down to the single figures of a provider and a host. */
function outsideAspects(arms: readonly Arm[]): readonly Aspect[] {
  const named: Aspect = { aspect: "provider", level: ({ provider }) => spelled(provider?.["provider"] ?? "none") };
  const figures = arms.map((arm) => ({
    arm,
    own: { ...leaves("provider", arm.provider), ...leaves("host", arm.host) },
  }));
  const names = new Set(figures.flatMap(({ own }) => Object.keys(own)));
  const levels = [...names]
    .filter((name) => !NAMES.has(name))
    .map((aspect): Aspect => {
      const level = (arm: Arm) => spelled(figures.find((each) => each.arm === arm)?.own[aspect]);
      return { aspect, level };
    });
  return [named, ...levels];
}

/** What only names or describes a provider. */
const NAMES: ReadonlySet<string> = new Set(["provider.provider", "provider.says", "provider.terms.provider"]);

/** Every value within, by its path: `provider.economy.price.input`. */
function leaves(path: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return value === null ? {} : { [path]: value };
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => Object.entries(leaves(`${path}.${name}`, inner))),
  );
}

function settingsTable(arms: readonly Arm[], names: Names): Html {
  return table(
    "Settings of every arm",
    [{ head: "setting" }, ...arms.map(({ row }) => ({ head: names.chip(row.arm) }))],
    settingKeys(arms).map((key) => {
      const levels = arms.map((arm) => spelled(arm.settings[key]));
      const differs = new Set(levels).size > 1;
      return [html`<code>${key}</code>${differs && html` <span title="arms differ">≠</span>`}`, ...levels];
    }),
  );
}

function settingKeys(arms: readonly Arm[]): readonly string[] {
  return [...new Set(arms.flatMap(({ settings }) => Object.keys(settings)))];
}

function spelled(value: unknown): string {
  if (value === undefined || value === null) return "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function measuresShown({ arms }: Experiment, estimates: Estimates): readonly Measure[] {
  return MEASURES.filter(({ measure, group }) =>
    arms.some(({ row }) => {
      const found = estimates.arm(row.arm, measure);
      // Most panels send no message of most kinds, and a row of noughts says nothing.
      return found !== undefined && (group !== "Messages" || found.value > 0);
    }),
  );
}

/** Where arms are rows, each is held against the first only. */
function comparisonsShown({ arms }: Experiment, comparisons: readonly Comparison[]): readonly Comparison[] {
  if (arms.length <= ARMS_ACROSS) return comparisons;
  return comparisons.filter(({ against }) => against === arms[0]!.row.arm);
}

/** Every difference in the table of measures. */
export function differencesShown(
  experiment: Experiment,
  estimates: Estimates,
  comparisons: readonly Comparison[],
): readonly Difference[] {
  const measures = measuresShown(experiment, estimates);
  return comparisonsShown(experiment, comparisons).flatMap(({ arm, against }) =>
    measures.flatMap(({ measure }) => estimates.difference(arm, against, measure) ?? []),
  );
}

export function measuresBlock(
  experiment: Experiment,
  estimates: Estimates,
  comparisons: readonly Comparison[],
  exploration: Exploration,
  names: Names,
): Html {
  const { arms, hasCalls, measured, withheld, design } = experiment;
  const shown = measuresShown(experiment, estimates);
  const cell = (difference: Difference | undefined) =>
    differenceCell(difference, withheld === null ? exploration : null);
  const head = html`<h3>All measures</h3>
<p class="note">Means per trial unless a row says otherwise, with 95 % intervals. ${design.paired ? "Differences are paired: the same tasks under both arms." : "Differences are between groups: no pairs are known."} ${withheld === null && inWords(exploration)}${
    !hasCalls && !measured && html` Quantiles over calls need <code>--detail calls</code>; this run kept trials only.`
  }</p>`;
  const definitions = html`<details><summary>What each measure means</summary><dl class="definitions">${shown.map(
    ({ measure, title, says }) => html`<dt>${title} <code>${measure}</code></dt><dd>${says}</dd>`,
  )}</dl></details>`;
  if (arms.length <= ARMS_ACROSS) {
    return html`${head}${scrolling("All measures by arm", measuresAcross(arms, shown, estimates, comparisons, names, cell))}${definitions}`;
  }
  const against = arms[0]!.row.arm;
  const values = table(
    "All measures, arms as rows",
    [{ head: "arm" }, ...shown.map((measure) => ({ head: headOf(measure), number: true }))],
    arms.map(({ row }) => [
      names.chip(row.arm),
      ...shown.map((measure) => valueCell(estimates.arm(row.arm, measure.measure), measure)),
    ]),
    { kind: "measures many" },
  );
  const differences = table(
    "Paired differences, arms as rows",
    [{ head: "arm" }, ...shown.map((measure) => ({ head: headOf(measure), number: true }))],
    comparisonsShown(experiment, comparisons).map(({ arm }) => [
      names.chip(arm),
      ...shown.map(({ measure }) => cell(estimates.difference(arm, against, measure))),
    ]),
    { kind: "measures many" },
  );
  return html`${head}${scrolling("All measures, arms as rows", values)}
<details><summary>Paired differences against ${names.of(against)}, ${counted(arms.length - 1, "arm")}</summary>${scrolling("Paired differences, arms as rows", differences)}</details>${definitions}`;
}

function measuresAcross(
  arms: readonly Arm[],
  shown: readonly Measure[],
  estimates: Estimates,
  comparisons: readonly Comparison[],
  names: Names,
  cell: (difference: Difference | undefined) => Html,
): Html {
  const columns = 1 + arms.length + comparisons.length;
  const groups = [...new Set(shown.map(({ group }) => group))];
  const rows = groups.map(
    (group) => html`<tbody><tr class="group"><th scope="rowgroup" colspan="${columns}">${group}</th></tr>
${shown
  .filter((measure) => measure.group === group)
  .map(
    (measure) =>
      html`<tr><th scope="row">${headOf(measure)}</th>${arms.map(
        ({ row }) => html`<td class="number">${valueCell(estimates.arm(row.arm, measure.measure), measure)}</td>`,
      )}${comparisons.map(
        ({ arm, against }, index) =>
          html`<td class="number${index === 0 && " first-difference"}">${cell(estimates.difference(arm, against, measure.measure))}</td>`,
      )}</tr>\n`,
  )}</tbody>`,
  );
  return html`<table class="measures"><caption class="unseen">All measures by arm, with paired differences</caption>
<thead><tr><th scope="col">measure</th>${arms.map(({ row }) => html`<th scope="col" class="number">${names.chip(row.arm)}</th>`)}${comparisons.map(
    ({ arm, against }, index) =>
      html`<th scope="col" class="number${index === 0 && " first-difference"}">${names.chip(arm)}<br><span class="quiet">− <bdi>${names.of(against)}</bdi></span></th>`,
  )}</tr></thead>${rows}</table>`;
}

/** Tokens are many and their name is long: it stands in the head of the row and not in every cell. */
function headOf({ title, unit }: Measure): string {
  return unit === "tokens" && !title.startsWith(unit) ? `${title}, tokens` : title;
}

const inCells = (unit: Unit): Unit => (unit === "tokens" ? "count" : unit);

function valueCell(figure: ReturnType<Estimates["arm"]>, measure: Measure): Html {
  const unit = inCells(measure.unit);
  if (figure === undefined) return html`<span class="quiet">–</span>`;
  const interval = intervalOf(figure, unit);
  return html`<b>${shownValue(figure, unit)}</b>${interval !== null && html`<small>${interval}</small>`}`;
}

/** What the marks mean, and how far they go. */
function inWords({ family }: Exploration): Html | null {
  if (family === 0) return null;
  return html`Where a hypothesis declares one, its verdict stands below it. All others, ${counted(family, "difference")}, are <em>exploratory</em>: found, not foretold. “Better”, “worse” and “differs” stand where one can be told from none after Benjamini and Hochberg’s adjustment over all ${whole(family)}; of those, about one in twenty is chance.`;
}

/** @param exploration null where nothing is judged */
function differenceCell(difference: Difference | undefined, exploration: Exploration | null): Html {
  if (difference === undefined) return html`<span class="quiet">–</span>`;
  const { measure, relative: change } = difference;
  const unit = inCells(measure.unit);
  const interval = changeIntervalOf(difference, unit);
  const told = change !== null && measure.unit !== "share" && difference.value !== 0 && change.value < TELLING;
  const share = told ? ` · ${relative(change.value)}` : "";
  return html`<b>${changeOf(difference, unit)}</b>${interval !== null && html`<small>${interval}${share}</small>`}${exploration && marked(difference, exploration)}`;
}

/** A hundredfold of next to nothing tells nobody anything. */
const TELLING = 99;

/** What became of it where it was declared; a sign and a word where it can be told from none. */
function marked(difference: Difference, exploration: Exploration): Html | null {
  const verdicts = exploration.verdicts(difference);
  if (verdicts.length > 0) return html`<small>declared: ${[...new Set(verdicts)].join(", ")}</small>`;
  const { measure, value } = difference;
  if (value === 0 || !exploration.stands(difference)) return null;
  if (measure.better === "neither") return html`<small>● differs</small>`;
  const better = measure.better === (value < 0 ? "lower" : "higher");
  return better ? html`<small class="better">▲ better</small>` : html`<small class="worse">▼ worse</small>`;
}
