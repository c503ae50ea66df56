/**
 * How often intervals of 95 % hold the truth, and how often tests of nothing reject at 5 %, by number of clusters.
 *
 * The figures that docstrings in src/stats give come from here: `npm run coverage-study`, or with a number of experiments behind it.
 */
import { openScreen } from "../../src/cli/screen.ts";
import { rejections, uniformity } from "../../src/stats/uniformity.ts";
import { wilson } from "../../src/stats/wilson.ts";
import { experiment, intervals, nothing, share } from "../stats/studies.ts";

const EXPERIMENTS = Number(process.argv[2] ?? 4_000);
const progress = openScreen({ stream: process.stderr, environment: process.env });
const { table, line } = openScreen({ stream: process.stdout, environment: process.env });
const percent = (value: number) => `${(100 * value).toFixed(1)} %`;

const one = [10, 20, 30, 60, 100];
const crossings = [
  [6, 30],
  [12, 10],
  [20, 20],
  [30, 30],
  [40, 40],
] as const;
const studies = [
  ...one.map(intervals.t),
  ...one.map(intervals.bca),
  ...one.map(intervals.relative),
  ...one.map(intervals.welch),
  ...crossings.flatMap(([scenarios, replicates]) => [
    intervals.twoWay(scenarios, replicates),
    intervals.twoWayRelative(scenarios, replicates),
    intervals.twoWayEven(scenarios, replicates),
  ]),
  ...[0.5, 0.9, 0.99].flatMap((p) => one.map((clusters) => intervals.quantile(clusters, p))),
  ...one.map(intervals.restricted),
  ...one.map(intervals.restrictedMean),
  ...one.map(intervals.survival),
  ...one.map(intervals.varianceRatio),
  intervals.early(100),
  intervals.early(400),
  intervals.selection(10),
];
const rows = studies.map(({ method, clusters, holds }) => {
  progress.line(`${method}, ${clusters}`);
  const held = share(holds, EXPERIMENTS);
  const { low, high } = wilson(Math.round(held * EXPERIMENTS), EXPERIMENTS);
  return [method, clusters, percent(held), `${percent(low)} to ${percent(high)}`];
});
table(["interval of 95 %", "clusters", "holds the truth", "95 %"], rows, "lrrr");
line();

const tests = Object.entries(nothing).map(([name, p]) => {
  progress.line(`nothing to find, ${name}`);
  const ps = Array.from({ length: EXPERIMENTS }, (_, at) => p(experiment(at)));
  const { rate, tooMany } = rejections(ps, 0.05);
  return [
    name,
    percent(rate.value),
    `${percent(rate.low)} to ${percent(rate.high)}`,
    tooMany.toFixed(3),
    uniformity(ps).p.toFixed(3),
  ];
});
table(["test of nothing", "rejects at 5 %", "95 %", "chance of so many", "p, uniform"], tests, "lrrrr");
