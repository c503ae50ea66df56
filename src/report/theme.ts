/**
 * How every chart looks, and the one colour and one order that arms, kinds, parts of time and classes of tokens have throughout.
 *
 * A chart is drawn once and read on white and on black: its colours are those of the light page, and the style sheet gives each
 * of them its dark counterpart by the very value that the SVG carries. So the list below is the only one, and a colour that
 * is not in it does not change with the page.
 */
import { levelInWords, levelsOf, placeOf, placesOf, variedIn } from "./cellPlaces.ts";
import type { Arm, Experiment } from "./experiment.ts";

interface Tone {
  readonly light: string;
  readonly dark: string;
}

/** Of the page and of axes. `card` is what a chart lies on, for gaps between touching marks. */
const TONES = {
  ink: { light: "#1b2026", dark: "#eceae5" },
  soft: { light: "#4d5661", dark: "#b4bac2" },
  line: { light: "#8b929b", dark: "#6d7580" },
  rule: { light: "#e4e1da", dark: "#33383f" },
  card: { light: "#ffffff", dark: "#1b1e23" },
} as const satisfies Record<string, Tone>;

/** Told apart with any of the common colour blindnesses, in this order; lightness differs too, for print without colour. */
const SERIES: readonly Tone[] = [
  { light: "#66717e", dark: "#a4afbb" },
  { light: "#c2471b", dark: "#f08a5d" },
  { light: "#0b66ad", dark: "#63b1f2" },
  { light: "#1c7f57", dark: "#5ec79a" },
  { light: "#8e4a93", dark: "#d093d4" },
  { light: "#93700a", dark: "#dcb548" },
  { light: "#0e8594", dark: "#5fcbd8" },
  { light: "#70452a", dark: "#c79a79" },
];

/** Where an arm's time can go, in the order of a call; no colour of an arm's. */
const PARTS: Readonly<Record<string, Tone>> = {
  "model at work": { light: "#d5d9de", dark: "#464d56" },
  "provider queue": { light: "#9bb3d6", dark: "#3d5c8a" },
  "provider retries": { light: "#d98c8c", dark: "#8f4040" },
  "initial hold": { light: "#a9cbd6", dark: "#2f5d6c" },
  "auto-await": { light: "#e2b93f", dark: "#7d6110" },
  "hard timeout": { light: "#a8a03a", dark: "#77711f" },
  "process wait": { light: "#9c6bb3", dark: "#83559b" },
  "other tool time": { light: "#7f8b6e", dark: "#616c52" },
  idle: { light: "#e3ddd0", dark: "#37332c" },
};

/** What is paid for, in the order of a prompt; nothing of it is an arm's or a part of time. */
const CLASSES: Readonly<Record<string, Tone>> = {
  "cache read": { light: "#bcd8c3", dark: "#355f42" },
  "cache write": { light: "#7ab0a8", dark: "#2f6b62" },
  "pause tax": { light: "#e0814f", dark: "#a1481f" },
  "uncached input": { light: "#c9b68a", dark: "#6b5a2c" },
  output: { light: "#a79cd0", dark: "#6a5f9c" },
};

/** What a cell comes to; a mark says the same. */
const VERDICTS: Readonly<Record<string, Tone>> = {
  PASS: { light: "#8fcfae", dark: "#2f7a55" },
  "NOT SHOWN": { light: "#d9d4c8", dark: "#4a4e55" },
  FAIL: { light: "#f0a48c", dark: "#9c432c" },
};

const KINDS = ["all", "quick", "long_finite", "server", "hanging"] as const;

const DASHES = [
  [1, 0],
  [6, 3],
  [2, 2],
  [8, 3, 2, 3],
  [4, 1],
  [1, 3],
  [10, 4],
  [6, 2, 1, 2, 1, 2],
];
const SHAPES = [
  "circle",
  "square",
  "triangle-up",
  "diamond",
  "cross",
  "triangle-down",
  "triangle-right",
  "triangle-left",
];

/** What a field of this name looks like wherever a spec uses it. */
interface Convention {
  /** The field to use instead, so that channels that say the same share one legend. */
  readonly as?: string;
  /** Heads a legend, where what it lists does not say it. */
  readonly title?: string;
  readonly order: readonly string[];
  readonly colours?: readonly string[];
  readonly dashes?: readonly (readonly number[])[];
  readonly shapes?: readonly string[];
}

export type Conventions = Readonly<Record<string, Convention>>;

/**
 * By field: `standing` is whether an arm is on the front, by shape and filling and never by colour; `arm` is the label, `series` what has one colour, `tag` what tells arms of one series apart. Where each arm is a
 * series of its own, all three are the arm.
 */
export function conventionsFor(experiment: Experiment): Conventions {
  const { arms, path, declaredFactors } = experiment;
  const series = [...new Set(arms.map((arm) => arm.series))];
  const tags = [...new Set(arms.map((arm) => arm.tag))];
  const colour = (name: string) => SERIES[series.indexOf(name) % SERIES.length]!.light;
  const own = path === null ? { as: "arm" } : {};
  const others = declaredFactors.filter((factor) => factor !== path).join(" · ");
  return {
    arm: {
      order: arms.map(({ label }) => label),
      colours: arms.map((arm) => colour(arm.series)),
      ...looks(arms.length),
    },
    series: {
      ...own,
      ...(path === null ? {} : { title: others }),
      order: series,
      colours: series.map(colour),
      ...looks(series.length),
    },
    tag: { ...own, ...(path === null ? {} : { title: path }), order: tags, ...looks(tags.length) },
    kind: { order: KINDS },
    part: { order: Object.keys(PARTS), colours: Object.values(PARTS).map(({ light }) => light) },
    standing: { order: ["on the front", "dominated"], shapes: ["diamond", "circle"] },
    ...cellsFor(experiment),
    class: { order: Object.keys(CLASSES), colours: Object.values(CLASSES).map(({ light }) => light) },
  };
}

/** Levels stand in the panel's order, which no alphabet knows. */
function cellsFor(experiment: Experiment): Conventions {
  const cells = placesOf(experiment);
  if (cells.length === 0) return {};
  const [across = "", down = "", ...others] = variedIn(cells);
  const order = (name: string) =>
    name === "" ? [""] : levelsOf(cells, name).map((level) => levelInWords(name, level));
  return {
    across: { order: order(across) },
    down: { order: order(down) },
    place: { order: [...new Set(cells.map(({ levels }) => placeOf(levels, others)))] },
    verdict: { order: Object.keys(VERDICTS), colours: Object.values(VERDICTS).map(({ light }) => light) },
  };
}

function looks(count: number): Pick<Convention, "dashes" | "shapes"> {
  // Each time round it is shifted by one, for colours begin again too: so two arms of one colour have not one shape.
  const repeated = <T>(list: readonly T[]) =>
    Array.from({ length: count }, (_, index) => list[(index + Math.floor(index / list.length)) % list.length]!);
  return { dashes: repeated(DASHES), shapes: repeated(SHAPES) };
}

/** Which of the series' colours an arm has, from 1: the style sheet's `--series-1` and on. */
export function seriesNumber(arms: readonly Arm[], arm: Arm): number {
  return ([...new Set(arms.map(({ series }) => series))].indexOf(arm.series) % SERIES.length) + 1;
}

const { ink, soft, line, rule } = TONES;

/** Vega-Lite's configuration. Marks carry no ARIA of their own: a chart is one image, and a table says the same. */
export const CHART_CONFIG = {
  aria: false,
  background: null,
  font: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
  padding: 2,
  view: { stroke: null },
  axis: {
    labelColor: soft.light,
    labelFontSize: 12,
    labelPadding: 6,
    labelLimit: 220,
    labelSeparation: 6,
    titleColor: soft.light,
    titleFontSize: 12,
    titleFontWeight: "normal",
    titlePadding: 10,
    domainColor: line.light,
    tickColor: line.light,
    tickSize: 4,
    gridColor: rule.light,
  },
  axisBand: { domain: false, ticks: false, grid: false, labelColor: ink.light },
  axisPoint: { domain: false, ticks: false, grid: false, labelColor: ink.light },
  legend: {
    orient: "top",
    direction: "horizontal",
    offset: 10,
    title: null,
    titleColor: soft.light,
    titleFontSize: 12,
    titleFontWeight: "normal",
    titleOrient: "top",
    layout: { top: { direction: "vertical", anchor: "start" } },
    labelColor: ink.light,
    labelFontSize: 12,
    labelLimit: 260,
    symbolSize: 90,
    symbolOpacity: 1,
    symbolStrokeWidth: 2,
    columnPadding: 18,
  },
  header: {
    title: null,
    labelAnchor: "start",
    labelColor: ink.light,
    labelFontSize: 13,
    labelFontWeight: 600,
    labelPadding: 8,
    labelLimit: 320,
  },
  text: { fill: ink.light, fontSize: 12 },
  rule: { stroke: line.light },
  line: { strokeWidth: 2.25 },
  bar: { discreteBandSize: { band: 0.72 } },
} as const;

/** The variables of the page's style sheet, and what gives the colours of a chart their dark counterparts. */
export function colourStyles(): string {
  const variables = (mode: keyof Tone) =>
    [
      ...Object.entries(TONES).map(([name, tone]) => `--${name}:${tone[mode]}`),
      ...SERIES.map((tone, index) => `--series-${index + 1}:${tone[mode]}`),
    ].join(";");
  const tones: readonly Tone[] = [
    ...Object.values(TONES),
    ...SERIES,
    ...Object.values(PARTS),
    ...Object.values(CLASSES),
    ...Object.values(VERDICTS),
  ];
  const turned = tones
    .map(({ light, dark }) => `.drawing [fill="${light}"]{fill:${dark}}.drawing [stroke="${light}"]{stroke:${dark}}`)
    .join("");
  return `:root{${variables("light")}}@media screen and (prefers-color-scheme:dark){:root{${variables("dark")}}${turned}}`;
}
