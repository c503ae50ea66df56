/** A first panel of one's own, as files: the panel, its population, and the durations that were measured. */
import type { Durations, Share } from "./durations.ts";

/** What a panel is made from, in seconds as on paper. */
export interface Beginning {
  /** Of the panel and its files. */
  readonly name: string;
  /** Where the durations are from, in words. */
  readonly source: string;
  readonly outerLimitSeconds: number;
  /** On average. */
  readonly commandsPerTask: number;
  /** In a task in total, on average. */
  readonly thinkingSeconds: number;
  readonly shares: readonly Share[];
  /** Null: nobody measured; somebody was asked. */
  readonly measured: Durations | null;
}

export interface MadeFile {
  readonly file: string;
  /** What it is, for whoever finds it there. */
  readonly says: string;
  readonly text: string;
}

/** The panel first. */
export function firstPanel(beginning: Beginning): readonly MadeFile[] {
  const { name, shares } = beginning;
  const samples = shares.flatMap(({ lasts }, index): readonly MadeFile[] =>
    isSamples(lasts) && !allAlike(lasts)
      ? [
          {
            file: samplesFile(name, index),
            says: `${lasts.length.toLocaleString("en")} durations in seconds`,
            text: `seconds\n${lasts.join("\n")}\n`,
          },
        ]
      : [],
  );
  return [
    { file: `${name}.yaml`, says: "the panel: arms, hypotheses", text: panelText(beginning) },
    { file: `${name}-tasks.yaml`, says: "the population: what its tasks run", text: populationText(beginning) },
    ...samples,
  ];
}

const samplesFile = (name: string, index: number) => `${name}-${index + 1}.csv`;
const isSamples = (lasts: Share["lasts"]): lasts is readonly number[] => Array.isArray(lasts);
const allAlike = (seconds: readonly number[]) => seconds.at(0) === seconds.at(-1);

function panelText(beginning: Beginning): string {
  const { name, source } = beginning;
  const caveats = caveatsOf(beginning).map((caveat) => `  - ${quoted(caveat)}\n`);
  return `# A first panel: change what you like, then look at it with yieldpoint lint, and run it.
panel: ${quoted(name)}
question: How long may a command hold the model, and how long a wait, on commands that last as long as mine?
source: ${quoted(source)}
population: ${quoted(`${name}-tasks`)} # the file beside this one
replicates: 30 # worlds; the tasks are drawn anew in each
seed: 1
concurrency: { per_arm: 8 }
# Everything below is crossed, and gives an arm each: cap-10.slice-none, cap-10.slice-240 and so on.
base: { policy: shipped, profile: long, budget: untold } # a model that mostly asks for an hour, and no word of the outer limit
factors:
  cap: [10, 240] # seconds that a command may hold its own call
  slice: [none, 240] # seconds that one wait may hold the model
  # budget: [untold, told]   whether the policy knows the outer limit
  # habit: [short, long]     how long the model asks for
hypotheses: # say before you run it what you expect; yieldpoint freeze locks it
  - { measure: wait_actions, arm: cap-240.slice-240, against: cap-10.slice-240, expect: lower }
  - { measure: longest_control_gap_seconds, arm: cap-240.slice-240, against: cap-240.slice-none, expect: lower }
  - { measure: outer_timeout, arm: cap-240.slice-240, against: cap-240.slice-none, expect: lower }
caveats: # what whoever reads the report has to know
${caveats.join("")}`;
}

function populationText(beginning: Beginning): string {
  const { name, source, outerLimitSeconds, commandsPerTask, thinkingSeconds, shares, measured } = beginning;
  const background = measured === null ? 0 : backgroundProbability(measured, commandsPerTask);
  return `# What the tasks look like to the shell; every arm meets the same.
population: ${quoted(`${name}-tasks`)}
source: ${quoted(source)}
tasks: 40
outer_limit_seconds: ${outerLimitSeconds} # when the harness ends a trial
commands_per_task: { poisson_gamma: { mean: ${commandsPerTask}, k: 2 } } # the mean, and some tasks have many more
thinking_seconds: ${thinkingSeconds === 0 ? "0" : `{ lognormal: { mean: ${thinkingSeconds}, sigma: 0.55 } }`} # in total, spread evenly between commands
background_job_probability: ${background} # how likely a task starts a command in the background
command:
  mix: # p is a share of all commands; all of them together are 1
${shares.map((share, index) => `    - ${shareText(share, samplesFile(name, index))}\n`).join("")}grading: { tests: 1, reward: all_tests, credit: submitted }
`;
}

function shareText({ perMillion, line, exitCode, lasts }: Share, file: string): string {
  const seconds = isSamples(lasts)
    ? allAlike(lasts)
      ? String(lasts[0])
      : `{ samples: ${quoted(file)} }`
    : `{ lognormal: ${JSON.stringify(lasts)} }`;
  const phase = lasts === "never" ? "{ hang: { output: none } }" : `{ run: { seconds: ${seconds}, output: none } }`;
  const exit = exitCode === 0 ? "" : `, { exit: { code: ${exitCode} } }`;
  return `{ p: ${perMillion / 1e6}, ${line === null ? "" : `line: ${quoted(line)}, `}phases: [${phase}${exit}] }`;
}

/** A task starts one job in the background at most: as many as were measured for each command in the foreground, if that can be. */
function backgroundProbability({ foreground, background }: Durations, commandsPerTask: number): number {
  return Math.min(1, +((commandsPerTask * background) / foreground).toFixed(4));
}

function caveatsOf({ outerLimitSeconds, commandsPerTask, thinkingSeconds, measured }: Beginning): readonly string[] {
  const counted = (count: number) => count.toLocaleString("en");
  return [
    measured === null
      ? "No duration here was measured: the population is what somebody answered when asked."
      : `The durations are those of ${counted(measured.foreground)} commands; what they printed is not known, and here they are silent.`,
    `Assumed beside the durations: ${commandsPerTask} commands and ${thinkingSeconds} s of thinking a task, and an outer limit of ${outerLimitSeconds} s.`,
    ...(measured === null || measured.neverEnded === 0
      ? []
      : [
          `${counted(measured.neverEnded)} of the commands were cut off or did not end; here they never end, however long one waits.`,
        ]),
    ...(measured === null || measured.lineless === 0
      ? []
      : [`${counted(measured.lineless)} commands whose lines were rare have none here.`]),
    ...(measured === null || measured.background === 0
      ? []
      : [
          `${counted(measured.background)} more commands ran in the background: they say how often a task starts one, and nothing about how long it lasts.`,
        ]),
    "Reward is an upper bound; whoever submits in time is taken to have solved the task.",
  ];
}

/** Text as YAML and JSON both read it, with everything that cannot be seen spelled out. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (unseen) => {
    const code = unseen.codePointAt(0)!.toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
}
