/** The head of the page: the question, what the data say to it, and what they cannot say. */
import { ARMS_ACROSS } from "./armsSection.ts";
import { placesOf } from "./cellPlaces.ts";
import { CONFIDENCE, type Difference, type Estimated, type Estimates } from "./estimates.ts";
import { type Experiment, short } from "./experiment.ts";
import { type Html, html, trusted } from "./html.ts";
import { capital, type JudgedHypothesis, POWER } from "./judged.ts";
import { measureCalled } from "./measures.ts";
import {
  changeIntervalOf,
  changeOf,
  fixed,
  intervalOf,
  probability,
  quantity,
  relative,
  shownValue,
  whole,
} from "./numbers.ts";
import { type BothWays, bothWaysBlock } from "./setAside.ts";
import { counted, kept, listed, type Names, scrolling, table } from "./words.ts";
import type { Counted } from "./zeros.ts";

export interface Verdict {
  readonly experiment: Experiment;
  readonly names: Names;
  readonly hypotheses: readonly JudgedHypothesis[];
  /** Null where the infrastructure failed no trial. */
  readonly bothWays: BothWays | null;
  /** The sentence that answers the panel's question. */
  readonly answer: string;
  /** Whether it was simulated or measured, and what that means. */
  readonly basis: string;
  readonly estimates: Estimates;
}

export function hero({ experiment, answer, basis, names, estimates }: Verdict): Html {
  const { row, withheld } = experiment;
  const called = row.crossed ? `Arms go by their levels of ${experiment.declaredFactors.join(" · ")}. ` : "";
  return html`<header class="hero">
<p class="eyebrow"><span class="brand">yieldpoint</span> <bdi>${row.panel}</bdi></p>
<h1>${row.question}</h1>
${
  withheld === null
    ? html`<p class="answer">${kept(answer)}</p>`
    : html`<p class="answer withheld" role="note">${badge("WITHHELD")} ${capital(withheld)}. What is there is shown below; nothing is judged by it.</p>`
}
${experiment.arms.length <= ARMS_ACROSS && experiment.cases.length === 0 && atAGlance(experiment, names, estimates)}
<p class="basis">${sizeOf(experiment)}. ${called}${experiment.cases.length === 0 && `Intervals are ${CONFIDENCE * 100} %. `}${basis}</p>
</header>`;
}

function sizeOf({ row, arms, worlds, cases, trials }: Experiment): string {
  if (cases.length > 0) {
    const panels = new Set(cases.map(({ of_case }) => of_case));
    return `${counted(panels.size, "case")}, ${counted(cases.length, "scenario")}, each under its own arms; what is shown is replicate 1`;
  }
  const cells = placesOf({ arms }).length;
  if (cells > 0)
    return `${counted(worlds.length, "replicate")} of ${counted(row.tasks, "trial")} under ${counted(arms.length / cells, "arm")} in each of ${counted(cells, "cell")}: ${whole(trials)} in all`;
  if (row.detail === "trials" && row.source === "measured")
    return `${counted(trials, "measured trial")} of ${counted(row.tasks, "scenario")} under ${counted(arms.length, "arm")}`;
  return `${counted(worlds.length, "replicate")} of ${counted(row.tasks, "trial")} under ${counted(arms.length, "arm")}: ${whole(trials)} in all`;
}

/** The few figures that somebody in a hurry takes away. */
const GLANCE = [
  ["outer_timeouts", "lost to the outer limit, per replicate"],
  ["duration_seconds", "mean duration"],
  ["longest_control_gap_seconds", "longest stretch without control, mean"],
  ["wait_actions", "wait and status calls, per replicate"],
] as const;

function atAGlance({ arms }: Experiment, names: Names, estimates: Estimates): Html {
  const figure = (arm: string, name: string) => {
    const found = estimates.arm(arm, name);
    const { unit } = measureCalled(name)!;
    if (found === undefined) return html`–`;
    const interval = intervalOf(found, unit);
    return html`<b>${shownValue(found, unit)}</b>${interval !== null && html`<small>${interval}</small>`}`;
  };
  return scrolling(
    "At a glance",
    table(
      "At a glance, by arm",
      [
        { head: html`<span class="unseen">measure</span>` },
        ...arms.map(({ row }) => ({ head: names.chip(row.arm), number: true })),
      ],
      GLANCE.map(([name, head]) => [head, ...arms.map(({ row }) => figure(row.arm, name))]),
      { kind: "glance" },
    ),
  );
}

export function verdictSection({ experiment, names, hypotheses, bothWays }: Verdict): Html {
  const { withheld, design } = experiment;
  const list =
    hypotheses.length === 0
      ? html`<p>The panel declares no hypothesis, so nothing passes or fails. The measures below stand for themselves.</p>`
      : html`<ol class="hypotheses">${hypotheses.map((hypothesis) => card(hypothesis, names, withheld !== null))}</ol>
<p class="note">${design.says} ${design.paired && "The t interval on cluster means decides, for outer timeouts the sign-flip permutation together with the sign of the difference. "}${
          hypotheses.some(({ decided }) => decided !== null && decided.bound !== 0) &&
          "Where a margin or a share is declared, the whole interval has to lie on the right side of it: the solid upright line. "
        }${hypotheses.some(({ zero }) => zero !== null) && "A zero is counted, not estimated. "}${familyInWords(hypotheses)}${
          hypotheses.some(({ difference }) => (difference?.pairing() ?? null) !== null) &&
          " Both arms of a pair meet the same luck. The variance of a difference unpaired, over that paired, says how many times the trials would be needed without it."
        }</p>
<p class="note">${doubts(experiment)}</p>`;
  const cannot = cannotShow(experiment);
  return html`<section id="verdict" aria-labelledby="verdict-title"><h2 id="verdict-title">Verdict</h2>
${list}
${bothWays && bothWaysBlock(bothWays, hypotheses, names)}
<div class="cares">${care("What this panel cannot show", cannot)}${care("Cautions from the panel itself", experiment.caveats)}</div>
</section>`;
}

/** Two kinds of doubt that no reader should take for one. */
function doubts({ measured }: Experiment): Html {
  return measured
    ? html`<em>Sampling uncertainty</em> is what the intervals show: how far another run of as many trials could lie from this one. Whether other agents and other tasks behave alike is another matter, and no interval speaks of it.`
    : html`<em>Simulation uncertainty</em> is what the intervals show: how far other worlds with the same inputs could lie from these, and more replicates make it less. <em>Model validity</em>, whether inputs that are assumed or fitted are like the real thing, is another matter: no interval speaks of it, and no replicate makes it better.`;
}

/** How many are judged together, and what that costs each. */
function familyInWords(hypotheses: readonly JudgedHypothesis[]): string {
  const family = hypotheses.find(({ chance }) => chance !== null)?.chance?.family ?? 0;
  const level = `${Math.round((1 - CONFIDENCE) * 100)} %`;
  if (family < 2) return `It is judged at ${level}.`;
  return `All ${family} that are estimated are one family: Holm's method adjusts their p-values, so that the chance of even one wrong answer among them stays at ${level}. An interval is each one's own, at ${CONFIDENCE * 100} %.`;
}

function care(title: string, sentences: readonly string[]): Html | null {
  if (sentences.length === 0) return null;
  return html`<div class="care"><h3>${title}</h3><ul>${sentences.map((sentence) => html`<li>${sentence}</li>`)}</ul></div>`;
}

function card(judged: JudgedHypothesis, names: Names, withheld: boolean): Html {
  const { hypothesis, difference, what, outcome, zero } = judged;
  const { arm, against } = hypothesis;
  const pair = difference === null ? names.chip(arm) : html`${names.chip(arm)} against ${names.chip(against!)}`;
  return html`<li class="hypothesis">
<div>${badge(withheld ? "WITHHELD" : judged.verdict)}</div>
<div><p class="sentence">${capital(what)}, ${pair}: ${outcome}.</p>
${difference !== null && beside(difference, judged)}</div>
${difference !== null ? effect(difference, judged) : zero !== null ? zeroFound(zero, judged.counted) : html`<div></div>`}
</li>`;
}

/** What else was asked of the same difference. */
function beside(difference: Difference, { decided, chance, detectable }: JudgedHypothesis): Html | null {
  const { measure, value, permutation, bootstrap, relative: change } = difference;
  const isRelative = decided?.by === "relative";
  const saved = difference.pairing();
  const parts = [
    ...(isRelative
      ? [`${changeOf(difference, measure.unit)} (95 % ${changeIntervalOf(difference, measure.unit)})`]
      : []),
    ...(change === null || measure.unit === "share" || isRelative ? [] : [`${relative(change.value)} relative`]),
    ...(permutation === null || decided?.by !== "permutation"
      ? []
      : [
          `${permutation.test === "sign-flip" ? `sign flip over clusters, ${permutation.method}` : `${permutation.test}'s exact test`}: ${probability(permutation.p)}`,
        ]),
    ...(chance === null || chance.family === 1
      ? []
      : [
          `${decided?.by === "permutation" ? "" : `${probability(chance.p)} alone, `}${probability(chance.adjusted)} among ${chance.family} by Holm`,
        ]),
    ...(bootstrap === null ? [] : [`BCa bootstrap ${changeIntervalOf({ value, ...bootstrap }, measure.unit)}`]),
    ...(saved === null ? [] : [`variance unpaired / paired ${fixed(saved, saved < 10 ? 1 : 0)}`]),
  ];
  const open =
    detectable === null
      ? null
      : html`<p class="small">A true difference ${(decided?.bound ?? 0) === 0 ? "of " : ""}${quantity(detectable, measure.unit)}${(decided?.bound ?? 0) !== 0 && " beyond what is declared"} would have been shown ${POWER * 100} times in 100; a smaller one may be there unseen.</p>`;
  return html`${parts.length > 0 && html`<p class="beside">${parts.map((part) => html`<span>${part}</span>`)}</p>`}${open}`;
}

/** The effect in large figures, with its interval drawn against no difference and against what was declared. */
function effect(difference: Difference, { decided, counted: unit }: JudgedHypothesis): Html {
  const { measure, n } = difference;
  const isRelative = decided?.by === "relative";
  const figure = isRelative ? difference.relative! : difference;
  const large = isRelative ? relative(figure.value) : changeOf(difference, measure.unit);
  const interval = isRelative
    ? `${relative(figure.low!)} to ${relative(figure.high!)}`
    : changeIntervalOf(difference, measure.unit);
  return html`<div class="effect"><p class="large">${large}</p>${intervalDrawing(figure, decided?.bound ?? 0)}<p class="small">${
    interval !== null && html`<span>95 % ${interval}</span>`
  }<span>n = ${n} ${unit}</span></p></div>`;
}

function zeroFound({ all, others }: Counted, unit: string): Html {
  return html`<div class="effect"><p class="large">${whole(others)}</p><p class="small"><span>with another value than 0</span><span>n = ${whole(all)} ${unit}</span></p></div>`;
}

/** Decoration: the figures beside it say the same. */
function intervalDrawing({ value, low, high }: Estimated, bound: number): Html | null {
  if (low === null || high === null) return null;
  const reach = Math.max(Math.abs(low), Math.abs(high), Math.abs(bound)) || 1;
  const x = (at: number) => fixed(100 + (at / reach) * 92, 1).replace("−", "-");
  const limit = bound === 0 ? "" : `<line class="bound" x1="${x(bound)}" x2="${x(bound)}" y1="2" y2="20"/>`;
  return trusted(
    `<svg class="interval" viewBox="0 0 200 22" width="200" height="22" aria-hidden="true" focusable="false">` +
      `<line class="axis" x1="4" x2="196" y1="11" y2="11"/><line class="zero" x1="100" x2="100" y1="2" y2="20"/>${limit}` +
      `<line class="reach" x1="${x(low)}" x2="${x(high)}" y1="11" y2="11"/><circle cx="${x(value)}" cy="11" r="4.5"/></svg>`,
  );
}

/** A word and a shape; colour comes on top. */
export function badge(word: "PASS" | "FAIL" | "NOT SHOWN" | "WITHHELD"): Html {
  const shape = {
    PASS: '<path d="M3 8.5 6.6 12 13 4.5"/>',
    FAIL: '<path d="M4 4 12 12M12 4 4 12"/>',
    "NOT SHOWN": '<circle cx="8" cy="8" r="4.6"/>',
    WITHHELD: '<path d="M4 8h8"/>',
  }[word];
  const kind = { PASS: "pass", FAIL: "fail", "NOT SHOWN": "open", WITHHELD: "held" }[word];
  return html`<strong class="badge ${kind}">${trusted(`<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" focusable="false">${shape}</svg>`)}${word}</strong>`;
}

/** What follows from what the panel has in it, whoever wrote it. */
function cannotShow({ kinds, scenarios, worlds, row, hypotheses, arms, measured }: Experiment): readonly string[] {
  const missing = ["long_finite", "hanging"].filter((kind) => !kinds.includes(kind));
  const sentences: string[] = [];
  if (kinds.length === 0) {
    sentences.push(
      "Nobody tells what kinds of command its trials met: what long or hanging ones cost, it cannot show.",
    );
  } else if (kinds.every((kind) => kind === "quick")) {
    sentences.push(
      "It has only quick commands: it supports a reduction of turns and says nothing about long-tail safety.",
    );
  } else {
    for (const kind of missing) {
      const what = kind === "hanging" ? "command that hangs" : "command that is long but finite";
      sentences.push(`No trial met a ${what}: what such a command costs, it cannot show.`);
    }
  }
  if (!row.population && scenarios === 1) sentences.push("It has one scenario: nothing here need hold for another.");
  if (worlds.length === 1) sentences.push("It has one replicate: chance between worlds is not seen.");
  if (hypotheses.length === 0)
    sentences.push("It declares no hypothesis: whatever stands out here was found, not foretold.");
  if (!arms.some((arm) => arm.row.budget !== "untold")) {
    sentences.push("No arm is told of the outer limit: what a known budget changes, it cannot show.");
  }
  if (arms.some(({ provider }) => provider?.["scope"] === "world")) {
    sentences.push(
      "Arms interfere: they share one provider, so what one of them does depends on which others are listed.",
    );
  }
  const habits = [...new Set(arms.map((arm) => short(arm.row.profile)))];
  sentences.push(
    measured
      ? `One agent was at work (${listed(habits)}): how another one would go about it, it cannot show.`
      : `Models here follow fixed habits (${listed(habits)}): how a real model's habits answer to a policy, it cannot show.`,
  );
  return sentences;
}
