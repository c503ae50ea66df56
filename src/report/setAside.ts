/**
 * Trials that ended because the infrastructure failed: nobody is to blame, so no arm is judged by them.
 *
 * They are left out, with the trial that each makes a pair with. But whoever leaves trials out can be wrong about why they failed, so
 * what is declared is judged a second time with all of them counted, as failures. A timeout that a policy causes is never set aside.
 */
import type { Reading } from "../telemetry/store.ts";
import { type Html, html } from "./html.ts";
import { capital, type JudgedHypothesis } from "./judged.ts";
import { changeIntervalOf, changeOf, whole } from "./numbers.ts";
import { counted, type Names, scrolling, table } from "./words.ts";

/** One arm's. */
interface SetAside {
  readonly arm: string;
  readonly failed: number;
  readonly trials: number;
}

export interface BothWays {
  readonly arms: readonly SetAside[];
  /** What hypotheses come to where these trials are counted, in the panel's order. */
  readonly counted: readonly JudgedHypothesis[];
}

/** Of every arm; empty where no trial failed so. */
export async function countSetAside(reading: Reading): Promise<readonly SetAside[]> {
  const rows = await reading.rows<SetAside>(
    `SELECT a.arm::VARCHAR AS arm, count(*) FILTER (outcome = 'infrastructure')::INTEGER AS failed, count(*)::INTEGER AS trials
     FROM trials AS t JOIN arms AS a USING (arm) GROUP BY a.position, a.arm ORDER BY a.position`,
  );
  return rows.some(({ failed }) => failed > 0) ? rows : [];
}

export function bothWaysBlock(
  { arms, counted: again }: BothWays,
  judged: readonly JudgedHypothesis[],
  names: Names,
): Html {
  const failed = arms.reduce((sum, each) => sum + each.failed, 0);
  const trials = arms.reduce((sum, each) => sum + each.trials, 0);
  const changed = again.filter(({ verdict }, at) => verdict !== judged[at]!.verdict).length;
  const told = arms.map(({ arm, failed: own, trials: all }) => [names.chip(arm), whole(own), whole(all)]);
  const cell = ({ verdict, difference }: JudgedHypothesis) => {
    if (difference === null) return html`<b>${verdict}</b>`;
    const { unit } = difference.measure;
    const interval = changeIntervalOf(difference, unit);
    return html`<b>${verdict}</b><small>${changeOf(difference, unit)}${interval !== null && html` (95 % ${interval})`}</small>`;
  };
  const pair = ({ hypothesis: { arm, against }, difference }: JudgedHypothesis) =>
    difference === null || against === undefined
      ? names.chip(arm)
      : html`${names.chip(arm)} against ${names.chip(against)}`;
  return html`<h3>Trials that the infrastructure failed</h3>
<p>${counted(failed, "trial")} of ${whole(trials)} ended because the infrastructure failed. They are left out, with the trial that each makes a pair with; charts of single trials show them. ${
    judged.length > 0 &&
    (changed === 0
      ? "Counted as failures, with no reward, they change no verdict."
      : html`Counted as failures, with no reward, they change <strong>${counted(changed, "verdict")}</strong>: what the panel says then hangs on why they failed.`)
  }</p>
${scrolling(
  "Trials that the infrastructure failed, by arm",
  table(
    "Trials that the infrastructure failed, by arm",
    [{ head: "arm" }, { head: "failed", number: true }, { head: "of trials", number: true }],
    told,
  ),
)}
${
  judged.length > 0 &&
  scrolling(
    "Hypotheses without these trials and with them",
    table(
      "Hypotheses without these trials and with them",
      [
        { head: "hypothesis" },
        { head: "arms" },
        { head: "left out", number: true },
        { head: "counted as failures", number: true },
      ],
      judged.map((each, at) => [capital(each.what), pair(each), cell(each), cell(again[at]!)]),
    ),
  )
}`;
}
