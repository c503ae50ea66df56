/** yieldpoint as a library: load, simulate, fold, compare. The policy core alone is `yieldpoint/policy`. */
export type { Agent, Command, Effect } from "./agent/effects.ts";
export type { TrialEvent } from "./agent/events.ts";
export { type Grade, grade } from "./agent/grading.ts";
export { journal } from "./agent/journal.ts";
export type { Profile } from "./agent/model.ts";
export type { Grading, Plan } from "./agent/plan.ts";
export { Shell } from "./agent/shell.ts";
export { type TrialSpec, trial } from "./agent/trial.ts";
export { conductWorld, type FinishedTrial, type FinishedWorld, replay } from "./experiment/conduct.ts";
export { scheduled } from "./experiment/schedule.ts";
export * from "./policy/index.ts";
export { type Draws, type Key, keyed } from "./random.ts";
export { drawScenario, replicateKey, type Task } from "./scenario/draw.ts";
export { FileFaults } from "./scenario/fault.ts";
export {
  type Arm,
  loadPanel,
  loadPolicy,
  loadProfile,
  loadProvider,
  loadScenario,
  type Panel,
} from "./scenario/load.ts";
export type { Estimate } from "./stats/estimate.ts";
export { meanDifference, relativeChange } from "./stats/paired.ts";
export { foldTrial, openInvocations, openNotices, openRequests, openTrials, openWaits } from "./telemetry/rows.ts";
export { type ScriptedCommand, scripted } from "./world/script.ts";
export { simulate, type WorldSpec } from "./world/simulated.ts";
