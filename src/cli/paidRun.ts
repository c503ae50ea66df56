/** What a paid run needs: each arm as a runtime is configured, and the order in which trials are started. */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { tasksOf } from "../experiment/schedule.ts";
import { budgetInWords } from "../scenario/arm.ts";
import { taskName } from "../scenario/draw.ts";
import type { Panel } from "../scenario/load.ts";
import { writeWhole } from "./folder.ts";
import { TEMPLATE } from "./imported.ts";

/** What a trial of an arm takes on average. */
export interface Cost {
  readonly arm: string;
  readonly seconds: number;
  /** Null where nobody counts. */
  readonly usd: number | null;
}

/** Why nothing can be written there. Looks only. */
export function exportFault(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  try {
    if (readdirSync(folder).length === 0) return [];
    return [`--export is ${folder}: it holds files already; name another folder, or empty this one`];
  } catch {
    return [`--export is ${folder}: it is a file: expected a folder to write into`];
  }
}

/** @param trials of each arm */
export function exportPlan(
  folder: string,
  panel: Panel,
  trials: number,
  costs: readonly Cost[],
  says: string,
): readonly string[] {
  const tasks = namesOf(panel);
  const files = new Map<string, string>();
  const named = panel.arms.map((arm, at) => ({ arm, file: `arm-${at + 1}.yaml` }));
  for (const { arm, file } of named) {
    const comment = (line: string) => `# ${line.replaceAll(/[\r\n]+/g, " ")}`;
    const head = [
      `${panel.panel}, arm ${arm.arm}: ${arm.says}`,
      `model at work in the simulation: ${arm.profile.profile}; a paid run has its own`,
      `budget of the run: ${budgetInWords(arm.budget)}`,
    ];
    files.set(file, `${head.map(comment).join("\n")}\n${stringify({ shell_execution: arm.written })}`);
  }
  files.set("schedule.csv", scheduleOf(panel, tasks, trials));
  files.set("trials.csv", `${TEMPLATE}\n`);
  const cost = (arm: string) => costs.find((each) => each.arm === arm);
  const hours = panel.arms.reduce((sum, { arm }) => sum + (trials * (cost(arm)?.seconds ?? 0)) / 3_600, 0);
  const money = panel.arms.every(({ arm }) => cost(arm)?.usd != null)
    ? panel.arms.reduce((sum, { arm }) => sum + trials * cost(arm)!.usd!, 0)
    : null;
  const told = {
    panel: panel.panel,
    question: panel.question,
    trials_per_arm: trials,
    tasks: tasks.length,
    seed: panel.seed,
    replicates: panel.replicates,
    concurrency_per_arm: panel.concurrencyPerArm,
    machine_hours: Number(hours.toFixed(1)),
    hours_at_that_concurrency: Number(
      (
        Math.max(0, ...panel.arms.map(({ arm }) => (trials * (cost(arm)?.seconds ?? 0)) / 3_600)) /
        panel.concurrencyPerArm
      ).toFixed(1),
    ),
    usd: money === null ? null : Number(money.toFixed(2)),
    arms: named.map(({ arm, file }) => ({ arm: arm.arm, file, budget: budgetInWords(arm.budget) })),
    hypotheses: panel.hypotheses,
    says,
    inputs: panel.inputs,
  };
  files.set("plan.json", `${JSON.stringify(told, null, 2)}\n`);
  files.set(
    "README.md",
    `# A paid run\n\n1. Configure the runtime for each arm with its \`arm-N.yaml\`; tell it of the budget as the head of that file says.\n2. Start trials in the order of \`schedule.csv\`, ${panel.concurrencyPerArm} of each arm at a time: a trial of an arm starts when one of that arm ends, so that arms run at matched concurrency.\n3. Put one row for each trial into \`trials.csv\`; leave out what was not measured.\n4. \`yieldpoint import trials.csv\` judges it. Hypotheses stand in \`plan.json\`; copy them into the file that \`--about\` names.\n`,
  );
  mkdirSync(folder, { recursive: true });
  return [...files].map(([name, content]) => {
    writeWhole(join(folder, name), content);
    return join(folder, name);
  });
}

function namesOf(panel: Panel): readonly string[] {
  const { source } = panel;
  if ("scenarios" in source) return source.scenarios.map(({ scenario }) => scenario);
  return Array.from({ length: tasksOf(panel) }, (_, index) => taskName(source.population.population, index));
}

/** Task by task under every arm, who comes first taking turns; a task is tried again once all were. */
function scheduleOf({ arms }: Panel, tasks: readonly string[], trials: number): string {
  const quoted = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const rows = Array.from({ length: trials }, (_, trial) =>
    arms.map((__, turn) => {
      const arm = arms[(trial + turn) % arms.length]!.arm;
      return [trial * arms.length + turn + 1, arm, tasks[trial % tasks.length]!, Math.floor(trial / tasks.length) + 1]
        .map((cell) => quoted(String(cell)))
        .join(",");
    }),
  );
  return `${["order,arm,scenario,attempt", ...rows.flat()].join("\n")}\n`;
}
