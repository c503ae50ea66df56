/**
 * A session as the tables have it: an experiment of one arm and one trial, *measured*.
 *
 * Commands are whatever a model typed, so the closed sets of words are made at the end, from what was run. What kind a
 * command was shows in what became of it.
 */
import { KINDS, type Kind } from "../agent/effects.ts";
import type { TrialEvent } from "../agent/events.ts";
import type { RunBudget } from "../policy/budget.ts";
import { type Settings, written } from "../policy/settings.ts";
import { between, type Instant, inSeconds, seconds } from "../policy/time.ts";
import { addDigests, type Digest, digestOf, hex16, noRows } from "../telemetry/digest.ts";
import {
  foldTrial,
  openEvents,
  openInvocations,
  openNotices,
  openTrials,
  openWaits,
  pushEvents,
} from "../telemetry/rows.ts";
import { type Batch, type Dictionaries, openBatch } from "../telemetry/table.ts";
import { arms, experiments, SCHEMA_VERSION, worlds } from "../telemetry/tables.ts";

/** All about a session that its events do not say. Texts are as they go into the database. */
export interface SessionFacts {
  /** Its name; no two have the same. */
  readonly session: string;
  readonly policy: { readonly policy: string; readonly says: string };
  readonly settings: Settings;
  readonly budget: RunBudget | null;
  /** Who made the calls, as it names itself. */
  readonly client: string;
  readonly inputs: readonly { readonly path: string; readonly sha256: string }[];
  readonly inputDigest: string;
  readonly overrides: readonly string[];
  readonly versions: string;
  readonly git: string;
  readonly host: string;
  readonly command: string;
  readonly startedAt: string;
  readonly finishedAt: string;
}

const PANEL = "served session";
const QUESTION = "How long was a real agent held by its shell, and when did it have control again?";
/** What a reader must know of a measurement without a partner. */
const CAVEATS = [
  "One session under one policy: there is nothing here to compare it with.",
  "The shell is not told what became of the work: no reward, no submission.",
  "A command counts as hanging if it was run in the foreground and never came to its own end while the session lasted.",
];

/** Everything there is to write of a session that has ended. */
export function sessionRows(
  events: readonly TrialEvent[],
  endedAt: Instant,
  facts: SessionFacts,
): { readonly batches: readonly Batch[]; readonly dictionaries: Dictionaries } {
  const known = withKinds(events);
  const arm = facts.policy.policy;
  const lines = known.flatMap((event) => (event.event === "exec_called" ? [event.command.line] : []));
  const dictionaries = {
    experiment: [facts.session],
    arm: [arm],
    scenario: [PANEL],
    command: [...new Set(lines)],
  };
  const invocations = openInvocations(dictionaries);
  const waits = openWaits(dictionaries);
  const notices = openNotices(dictionaries);
  const trials = openTrials(dictionaries);
  foldTrial(
    known,
    {
      trialId: 1,
      experimentId: facts.session,
      arm,
      scenario: PANEL,
      kind: gravest(known),
      replicate: 1,
      pairKey: 1,
      startedAt: 0,
      endedAt,
      concurrency: 1,
      grade: null,
    },
    trials,
    { invocations, waits, notices },
  );
  const timeline = openEvents(dictionaries);
  pushEvents(known, { trialId: 1, exhibit: null, arm, seed: 0, replicate: 1 }, timeline);
  const world = [trials, invocations, waits, notices, timeline] as readonly Batch[];
  return {
    batches: [
      experimentRow(facts, dictionaries) as Batch,
      armRow(facts, dictionaries) as Batch,
      worldRow(world, known.length, arm, endedAt, dictionaries) as Batch,
      ...world,
    ],
    dictionaries,
  };
}

/** Under this a finite command counts as quick. */
const QUICK = seconds(10);

/** The same events, each command with the kind it turned out to be. */
function withKinds(events: readonly TrialEvent[]): readonly TrialEvent[] {
  const lengths = new Map<number, number>();
  const starts = new Map<number, Instant>();
  for (const event of events) {
    if (event.event === "exec_called" && event.process !== null) starts.set(event.process, event.at);
    if (event.event !== "control_returned" && event.event !== "left_behind" && event.event !== "exit_awaited") continue;
    const began = event.process === null ? undefined : starts.get(event.process);
    if (began !== undefined && event.end?.by === "itself") lengths.set(event.process!, between(began, event.end.at));
  }
  return events.map((event) => {
    if (event.event !== "exec_called" || event.process === null) return event;
    return { ...event, command: { ...event.command, kind: kindOf(lengths.get(event.process), event.background) } };
  });
}

function kindOf(length: number | undefined, background: boolean): Kind | null {
  if (length === undefined) return background ? null : "hanging";
  return length < QUICK ? "quick" : "long_finite";
}

function gravest(events: readonly TrialEvent[]): Kind {
  const met = events.map((event) => (event.event === "exec_called" ? event.command.kind : null));
  return KINDS.findLast((kind) => met.includes(kind)) ?? "quick";
}

function experimentRow(facts: SessionFacts, dictionaries: Dictionaries) {
  const batch = openBatch(experiments, dictionaries);
  const to = batch.columns;
  to.experiment_id.push(facts.session);
  to.schema_version.push(SCHEMA_VERSION);
  to.source.push("measured");
  to.panel.push(PANEL);
  to.question.push(QUESTION);
  to.input_digest.push(facts.inputDigest);
  to.inputs.push(JSON.stringify(facts.inputs));
  to.seed.push(0);
  to.replicates.push(1);
  to.concurrency_per_arm.push(1);
  to.cut_grace_seconds.push(0);
  to.detail.push("events");
  to.paired.push(true);
  to.population.push(false);
  to.tasks.push(1);
  to.declared_factors.push("[]");
  to.crossed.push(false);
  to.hypotheses.push("[]");
  to.caveats.push(JSON.stringify(CAVEATS));
  to.inferred.push(null);
  to.overrides.push(JSON.stringify(facts.overrides));
  to.lock.push(null);
  to.versions.push(facts.versions);
  to.git.push(facts.git);
  to.host.push(facts.host);
  to.command.push(facts.command);
  to.started_at.push(facts.startedAt);
  to.finished_at.push(facts.finishedAt);
  return batch;
}

function armRow({ policy, settings, budget, client }: SessionFacts, dictionaries: Dictionaries) {
  const batch = openBatch(arms, dictionaries);
  const to = batch.columns;
  to.position.push(1);
  to.arm.push(policy.policy);
  to.says.push(policy.says);
  to.policy.push(policy.policy);
  to.profile.push(client);
  to.budget.push(budget === null ? "untold" : String(inSeconds(budget.length)));
  to.settings.push(JSON.stringify(written(settings)));
  to.habits.push("{}");
  to.provider.push(null);
  to.host.push(null);
  to.cut_reaches.push("agent");
  to.factors.push("{}");
  to.of_case.push(null);
  to.cell.push(null);
  return batch;
}

function worldRow(
  parts: readonly Batch[],
  delivered: number,
  arm: string,
  endedAt: Instant,
  dictionaries: Dictionaries,
) {
  const digest = parts.reduce<Digest>((sum, part) => addDigests(sum, digestOf(part)), noRows);
  const batch = openBatch(worlds, dictionaries);
  const to = batch.columns;
  to.replicate.push(1);
  to.digest.push(hex16(digest));
  to.rows.push(digest.rows);
  to.delivered_events.push(delivered);
  to.ended_seconds.push(endedAt);
  to.first_queue_empty_seconds.push(endedAt);
  to.mean_concurrency.push(JSON.stringify({ [arm]: 1 }));
  to.concurrency_gap.push(0);
  to.occupancy.push(
    JSON.stringify({
      [arm]: [
        [0, 1],
        [inSeconds(endedAt), 0],
      ],
    }),
  );
  return batch;
}
