/** `plan`: what a paid run of a panel has to be, before anybody pays for it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tasksOf } from "../experiment/schedule.ts";
import { keyed } from "../random.ts";
import { declaration } from "../report/declared.ts";
import type { Hypothesis as Declared } from "../report/experiment.ts";
import { measureCalled } from "../report/measures.ts";
import { plain, quantity } from "../report/numbers.ts";
import { FileFaults } from "../scenario/fault.ts";
import { loadPanel, type Panel } from "../scenario/load.ts";
import { openStore, readStore } from "../telemetry/store.ts";
import { TABLES } from "../telemetry/tables.ts";
import type { Command } from "./command.ts";
import { EXIT, UsageError } from "./exit.ts";
import { on, readFlags, text, whole } from "./flags.ts";
import { conductAndKeep, dictionariesOf, openingRows } from "./keep.ts";
import { type Cost, exportFault, exportPlan } from "./paidRun.ts";
import { detectableBy, levelFor, neededFor, type Planning, powerOf, type Question, questionOf } from "./planned.ts";
import { openScreen, type Screen } from "./screen.ts";
import { sha256 } from "./versions.ts";

const flags = {
  n: text("trials of one arm to look at, a list (default: 20,50,113,226,500,1000)", "N,N,…"),
  power: text("how likely a true effect is to be shown (default: 0.8)", "SHARE"),
  effect: text(
    "plan for a true change towards the declared side, a share of the other arm's value (default: what the simulation shows)",
    "SHARE",
  ),
  "at-most": whole("more trials of one arm than this cannot be paid for", 2, { default: 1_000 }),
  seed: whole("of every draw (default: the panel's)", 0),
  replicates: whole("worlds to simulate (default: the panel's)", 1),
  export: text("folder to write what the paid run needs: configurations, schedule, hours, money", "DIR"),
  json: on("print the plan as JSON on stdout"),
};

/** Runs of more trials of one arm take too long to play through. */
const MOST_TRIALS = 5_000;
/** A hundredfold change. */
const MOST_EFFECT = 100;

export const plan: Command = {
  usage: "plan <panel>",
  says: "how many paid trials a panel needs, and what it cannot show at any number",
  flags,
  examples: [
    ["plan panels/long-tail.yaml", "power by number of trials, for each hypothesis"],
    ["plan panels/deepswe-headline.yaml --n 113,226,339 --power 0.9", "one, two and three runs of 113 tasks"],
    ["plan panels/long-tail.yaml --export paid-run", "what the runtime and the harness need to be told"],
  ],
  async does(argv, { stdout, stderr, environment }) {
    const { given, faults } = readFlags(argv, flags, ["panel"]);
    const all = [...faults];
    const counts = numbers(
      "n",
      given.n ?? "20,50,113,226,500,1000",
      (n) => Number.isInteger(n) && n >= 2 && n <= MOST_TRIALS,
      `whole numbers from 2 to ${MOST_TRIALS}`,
      all,
    );
    const [wanted] = numbers(
      "power",
      given.power ?? "0.8",
      (share) => share > 0 && share < 1,
      "a share above 0 and below 1",
      all,
    );
    const [effect] =
      given.effect === undefined
        ? [null]
        : numbers("effect", given.effect, (share) => share >= 0 && share <= MOST_EFFECT, "a share from 0 to 100", all);
    const panel = panelOf(String(argv["panel"]), given, all);
    if (given["at-most"] > MOST_TRIALS)
      all.push(`--at-most is ${given["at-most"]}: expected a whole number from 2 to ${MOST_TRIALS}`);
    if (given.export !== undefined) all.push(...exportFault(given.export));
    if (panel !== null && panel.cases.length > 0)
      all.push(`${panel.panel} is a gallery of cases: it judges nothing, so there is nothing to plan`);
    else if (panel !== null && panel.hypotheses.length === 0)
      all.push(`${panel.panel} declares no hypothesis: expected one at least to plan for`);
    if (all.length > 0 || panel === null) throw new UsageError(...all);

    const screen = openScreen({ stream: stderr, environment });
    const folder = mkdtempSync(join(tmpdir(), "yieldpoint-plan-"));
    try {
      await simulated(panel, join(folder, "plan.duckdb"), screen);
      const tables = await readStore(join(folder, "plan.duckdb"));
      const planning = { alpha: levelFor(panel), key: keyed.within(keyed.seeded(panel.seed), "plan") };
      const told: Told[] = [];
      for (const hypothesis of panel.hypotheses) {
        const question = await questionOf(tables, hypothesis, effect ?? null);
        told.push(
          typeof question === "string"
            ? { hypothesis, why: question }
            : answered(question, counts, wanted!, given["at-most"], planning),
        );
      }
      const costs = await tables.rows<Cost>(
        `SELECT arm::VARCHAR AS arm, avg(duration_seconds)::DOUBLE AS seconds, avg(cost_usd)::DOUBLE AS usd FROM trials GROUP BY arm ORDER BY arm::VARCHAR`,
      );
      await tables.close();
      const says = inWords(panel, told, { wanted: wanted!, atMost: given["at-most"], effect: effect ?? null });
      const n = Math.max(0, ...told.flatMap((each) => ("needed" in each && each.needed !== null ? [each.needed] : [])));
      const made =
        given.export === undefined ? [] : exportPlan(given.export, panel, n === 0 ? given["at-most"] : n, costs, says);
      if (given.json) stdout.write(`${JSON.stringify(inJson(panel, told, wanted!, planning, says, costs), null, 2)}\n`);
      else show(panel, told, wanted!, planning, says, openScreen({ stream: stdout, environment }));
      for (const path of made) screen.line(`  ${path}`);
      return EXIT.done;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

type Told =
  | { readonly hypothesis: Question["hypothesis"]; readonly why: string }
  | {
      readonly hypothesis: Question["hypothesis"];
      readonly question: Question;
      readonly rows: readonly { readonly n: number; readonly power: number; readonly detectable: number | null }[];
      /** The fewest trials of one arm; null: not to be had. */
      readonly needed: number | null;
    };

function answered(
  question: Question,
  counts: readonly number[],
  wanted: number,
  atMost: number,
  planning: Planning,
): Told {
  return {
    hypothesis: question.hypothesis,
    question,
    rows: counts.map((n) => ({
      n,
      power: powerOf(question, n, planning),
      detectable: detectableBy(question, n, wanted, planning),
    })),
    needed: neededFor(question, wanted, atMost, planning),
  };
}

function numbers(
  flag: string,
  said: string,
  fits: (number: number) => boolean,
  expected: string,
  faults: string[],
): readonly number[] {
  const found = said.split(",").map((word) => (word.trim() === "" ? Number.NaN : Number(word)));
  if (found.every(fits) && (flag === "n" || found.length === 1)) return [...new Set(found)].sort((a, b) => a - b);
  faults.push(`--${flag} is ${said || "empty"}: expected ${expected}`);
  return [];
}

function panelOf(
  reference: string,
  { seed, replicates }: { readonly seed: number | undefined; readonly replicates: number | undefined },
  faults: string[],
): Panel | null {
  try {
    return loadPanel(reference, { seed, replicates });
  } catch (error) {
    if (!(error instanceof FileFaults)) throw error;
    faults.push(...error.faults);
    return null;
  }
}

/** The panel's own worlds, at the detail of trials, into a file that is gone afterwards. */
async function simulated(panel: Panel, path: string, screen: Screen): Promise<void> {
  const experimentId = sha256(panel.panel).slice(0, 16);
  const dictionaries = dictionariesOf(panel, experimentId);
  const store = await openStore(path, TABLES, dictionaries);
  const progress = screen.progress("simulating", panel.replicates);
  try {
    const nobody = {
      inputDigest: "",
      overrides: "[]",
      lock: null,
      versions: "{}",
      git: "null",
      host: "{}",
      command: "",
      startedAt: "",
    };
    await store.appendWorlds(openingRows(panel, "trials", { experimentId, ...nobody }, dictionaries));
    await conductAndKeep({
      ...{ panel, detail: "trials", experimentId, store },
      async onWorld(done, trials) {
        progress.to(done, `${trials.toLocaleString("en")} trials`);
        await new Promise<void>((resolve) => setImmediate(resolve));
        return true;
      },
    });
  } finally {
    progress.stop();
    await store.close();
  }
}

/** Sums of a replicate are planned by the trial: a paid run has as many trials as it has. */
const measureIn = (title: string) => title.replace(/ per replicate$/, " per trial");

function titleOf({ hypothesis }: Told): string {
  const { measure: name, arm, against } = hypothesis;
  const measure = measureCalled(name);
  const declared = declaration(hypothesis as Declared, measure?.unit ?? "count");
  return `${measureIn(measure?.title ?? name)}, ${arm}${against === undefined ? "" : ` against ${against}`}: ${declared}`;
}

/** What was asked for: power, affordable trials of one arm, and the effect to plan for (null: the simulated one). */
interface Asked {
  readonly wanted: number;
  readonly atMost: number;
  readonly effect: number | null;
}

/** Widest bar of a power of 1. */
const BAR = 20;

function show(
  panel: Panel,
  told: readonly Told[],
  wanted: number,
  { alpha }: Planning,
  says: string,
  { line, table, colours }: Screen,
): void {
  line();
  line(colours.bold(`What would a paid run of ${panel.panel} show?`));
  for (const each of told) {
    line();
    if ("why" in each) {
      line(`${titleOf(each)}`);
      line(`  not planned: ${each.why}`);
      continue;
    }
    const { question, rows, needed } = each;
    const { measure } = question;
    line(colours.bold(titleOf(each)));
    table(
      ["trials of an arm", "power", "", "smallest effect shown"],
      rows.map(({ n, power, detectable }) => [
        String(n),
        `${Math.round(power * 100)} %`,
        bar(power, wanted),
        detectable === null ? "none" : quantity(detectable, measure.unit),
      ]),
      "rrlr",
    );
    line(
      `  ${needed === null ? colours.yellow("not to be had") : `${needed} trials of an arm`} for a power of ${wanted * 100} %`,
    );
    line(
      `  ${question.kinds.map(({ kind, share, carries }) => `${kind.replaceAll("_", " ")} ${percent(share)} of trials, ${percent(carries)} of the difference`).join("; ")}`,
    );
  }
  line();
  line(says);
  line(
    `Each hypothesis at a level of ${plain(alpha)}, Holm's first step. Power is that of simulated trials: it takes the panel's inputs for true, and says nothing of whether they are.`,
  );
  line();
}

/** `█████████▏` with a mark where enough would be. */
function bar(power: number, wanted: number): string {
  const full = Math.round(power * BAR);
  const mark = Math.round(wanted * BAR);
  return Array.from({ length: BAR }, (_, at) => (at < full ? "█" : at === mark ? "│" : "·")).join("");
}

const percent = (share: number) => `${Math.round(share * 100)} %`;

function inWords(panel: Panel, told: readonly Told[], { wanted, atMost, effect }: Asked): string {
  const planned = told.flatMap((each) => ("why" in each ? [] : [each]));
  const open = planned.filter(({ needed }) => needed === null);
  const shown = planned.filter(({ needed }) => needed !== null);
  const most = shown.toSorted((a, b) => b.needed! - a.needed!)[0];
  const first =
    most === undefined
      ? ""
      : `${shown.length} of ${planned.length} hypotheses are shown ${Math.round(wanted * 100)} times in 100 by ${most.needed} trials of each arm, the hardest of them being ${measureIn(most.question.measure.title)}.`;
  const rest = open.map((each) => {
    const { question } = each;
    const name = `${measureIn(question.measure.title)} (${each.hypothesis.arm} against ${each.hypothesis.against})`;
    if (question.effect <= 0)
      return `${effect === null ? "By the simulation" : `With a change of ${plain(effect * 100)} %`} ${name} does not lie on the declared side, so no number of trials shows it.`;
    const isSafety = question.discordance !== null;
    const differ =
      question.discordance === null
        ? ""
        : `: of 1,000 pairs ${plain((question.discordance.onlyTreatment + question.discordance.onlyControl) * 1_000)} come out differently`;
    return `${isSafety ? `A paid run of ${panel.panel} cannot show long-tail safety at any number that can be paid for` : "It cannot show this"}: ${name} needs more than ${atMost} trials of each arm${differ}.`;
  });
  const tasks = tasksOf(panel);
  const again =
    most === undefined || most.needed! <= tasks
      ? ""
      : `Each of those is a task of its own, and the panel has ${tasks}: a task that is tried again counts once in the verdict, so bring ${most.needed} tasks, or expect less power.`;
  return [first, again, ...rest].filter((sentence) => sentence !== "").join(" ");
}

function inJson(
  panel: Panel,
  told: readonly Told[],
  wanted: number,
  { alpha }: Planning,
  says: string,
  costs: readonly Cost[],
) {
  return {
    panel: panel.panel,
    tasks: tasksOf(panel),
    seed: panel.seed,
    replicates: panel.replicates,
    power: wanted,
    level: alpha,
    hypotheses: told.map((each) =>
      "why" in each
        ? { ...each.hypothesis, planned: false, why: each.why }
        : {
            ...each.hypothesis,
            planned: true,
            effect: each.question.effect,
            trials_needed: each.needed,
            by_trials: each.rows.map(({ n, power, detectable }) => ({
              trials: n,
              power,
              minimal_detectable: detectable,
            })),
            kinds: each.question.kinds,
          },
    ),
    arms: costs,
    says,
  };
}
