/** Measures that are declared to be 0 in every trial: that is counted, not estimated. */
import type { Reading } from "../telemetry/store.ts";
import { literal } from "../telemetry/table.ts";
import type { Experiment, Hypothesis } from "./experiment.ts";
import { isOverCalls, type Measure, measureCalled } from "./measures.ts";

/** Trials, or calls where the measure is one of calls. */
export interface Counted {
  /** How many have a value. */
  readonly all: number;
  /** Of these, how many have another one than 0. */
  readonly others: number;
  /** The value farthest from 0. */
  readonly farthest: number;
}

/** What is counted for each hypothesis that declares a zero. */
export async function countZeros(
  reading: Reading,
  { hypotheses, hasCalls }: Experiment,
): Promise<ReadonlyMap<Hypothesis, Counted>> {
  const found = new Map<Hypothesis, Counted>();
  for (const hypothesis of hypotheses) {
    const measure = measureCalled(hypothesis.measure);
    if (hypothesis.expect !== "zero" || measure === undefined || (isOverCalls(measure) && !hasCalls)) continue;
    const [row] = await reading.rows<Counted>(
      `SELECT count(v)::INTEGER AS "all", count(*) FILTER (v <> 0)::INTEGER AS others,
              coalesce(arg_max(v, abs(v)), 0)::DOUBLE AS farthest FROM (${values(measure, hypothesis)})`,
    );
    found.set(hypothesis, row!);
  }
  return found;
}

function values(measure: Measure, { arm, kind }: Hypothesis): string {
  const those = `t.arm::VARCHAR = ${literal(arm)}${kind === undefined ? "" : ` AND t.kind::VARCHAR = ${literal(kind)}`}`;
  return isOverCalls(measure)
    ? `SELECT s.time_to_first_control_seconds AS v FROM shell_invocations AS s JOIN trials AS t USING (trial_id)
       WHERE s.status <> 'refused' AND ${measure.sql} AND ${those}`
    : `SELECT (${measure.sql})::DECIMAL(18, 6) AS v FROM trials AS t WHERE ${those}`;
}
