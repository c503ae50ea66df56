/**
 * How much a difference in outer timeouts rests on: few events carry little, whatever their p-value.
 *
 * A p-value says how surprising the counts are, and not that the counts are right. So it is said what one event more or less would
 * have done, what was inferred, and, where nobody says how many trials stand behind the counts, what every number of them gives.
 */
import { fisherExact } from "../stats/fisher.ts";
import { wilson } from "../stats/wilson.ts";
import type { Reading } from "../telemetry/store.ts";
import { CONFIDENCE, type Comparison } from "./estimates.ts";
import type { Experiment } from "./experiment.ts";
import { type Html, html } from "./html.ts";
import { fixed, probability, whole } from "./numbers.ts";
import { counted, type Names, scrolling, table } from "./words.ts";

/** One arm's outer timeouts. */
export interface Timeouts {
  readonly cut: number;
  readonly trials: number;
  /** How many runs of the scenarios its trials make up. */
  readonly runs: number;
}

export async function countTimeouts(tables: Reading): Promise<ReadonlyMap<string, Timeouts>> {
  const rows = await tables.rows<Timeouts & { arm: string }>(
    `SELECT arm::VARCHAR AS arm, count(*) FILTER (outer_timeout)::INTEGER AS cut, count(*)::INTEGER AS trials,
            count(DISTINCT replicate)::INTEGER AS runs FROM trials GROUP BY ALL ORDER BY ALL`,
  );
  return new Map(rows.map(({ arm, ...counts }) => [arm, counts]));
}

/** Under so many events in both arms together, each of them is said to weigh. */
const FEW = 30;

/** Null where no comparison is thin and nothing was inferred. */
export function thinBlock(
  experiment: Experiment,
  comparisons: readonly Comparison[],
  timeouts: ReadonlyMap<string, Timeouts>,
  names: Names,
): Html | null {
  const { inferred, design } = experiment;
  const thin = comparisons.filter(({ arm, against }) => {
    const events = timeouts.get(arm)!.cut + timeouts.get(against)!.cut;
    return events > 0 && events < FEW;
  });
  if (thin.length === 0 && inferred.says.length === 0) return null;
  return html`<h3>How much do the outer timeouts rest on?</h3>
${thin.map(({ arm, against }) => comparison(timeouts.get(arm)!, timeouts.get(against)!, names.of(arm), names.of(against), design.paired))}
${inferred.says.length > 0 && html`<div class="care"><h4>Inferred, not measured</h4><ul>${inferred.says.map((says) => html`<li><strong>Inferred:</strong> ${says}</li>`)}</ul></div>`}
${inferred.trials_in_a_run !== null && thin.map(({ arm, against }) => denominators(experiment, timeouts.get(arm)!, timeouts.get(against)!, names.of(arm), names.of(against)))}`;
}

const counts = ({ cut, trials }: Timeouts) => ({ successes: cut, n: trials });
const fisher = (one: Timeouts, other: Timeouts) => fisherExact(counts(one), counts(other));

function comparison(one: Timeouts, other: Timeouts, name: string, against: string, paired: boolean): Html {
  const more = one.cut / one.trials >= other.cut / other.trials;
  const [upper, lower] = more ? [one, other] : [other, one];
  const side = fisherExact(counts(upper), counts(lower), "higher");
  const fewer = fisher({ ...upper, cut: upper.cut - 1 }, lower);
  const another = lower.cut < lower.trials ? fisher(upper, { ...lower, cut: lower.cut + 1 }) : 1;
  const share = (of: Timeouts) => {
    const { low, high } = wilson(of.cut, of.trials, CONFIDENCE);
    return `${fixed(low * 100, 2)} to ${fixed(high * 100, 2)} %`;
  };
  return html`<p>${whole(one.cut)} of ${whole(one.trials)} under <bdi>${name}</bdi> (95 % ${share(one)}) against ${whole(other.cut)} of ${whole(other.trials)} under <bdi>${against}</bdi> (95 % ${share(other)}): Fisher's exact test, two-sided, ${exact(fisher(one, other))}; one-sided ${exact(side)}.
<strong>That is thin.</strong> All of it rests on ${counted(one.cut + other.cut, "event")}: with one event less where there are more it would be ${exact(fewer)}, with one more where there are fewer ${exact(another)}. ${
    (one.runs > 1 || other.runs > 1) &&
    "Several runs of the same tasks count here as so many independent trials, and a task that is slow once is slow again: the true p is larger. "
  }${!paired && "Which task each event belongs to is not used, so what the arms have in common (tasks, provider, hour of the day) cannot be told from what they differ in."}</p>`;
}

const exact = (p: number) => (p < 0.001 ? probability(p) : `p = ${p.toFixed(4)}`);

/** Every number of trials that a run may have had, and what it gives. */
function denominators({ inferred }: Experiment, one: Timeouts, other: Timeouts, name: string, against: string): Html {
  const { from, to } = inferred.trials_in_a_run!;
  const tried = Array.from({ length: to - from + 1 }, (_, at) => {
    const trials = from + at;
    const resized = (arm: Timeouts) => ({ ...arm, trials: arm.runs * trials });
    return { trials, one: resized(one), other: resized(other), p: fisher(resized(one), resized(other)) };
  });
  const ps = tried.map(({ p }) => p);
  const rows = tried.map(({ trials, one: a, other: b, p }) => {
    const ends = (of: Timeouts) => {
      const { low, high } = wilson(of.cut, of.trials, CONFIDENCE);
      return `${of.cut} of ${of.trials} (${fixed(low * 100, 2)} to ${fixed(high * 100, 2)} %)`;
    };
    return [String(trials), ends(a), ends(b), p.toFixed(6)];
  });
  const caption = `Trials in a run, each number tried: ${name} against ${against}`;
  return html`<p><strong>Inferred:</strong> how many trials a run had. For ${from} to ${to} of them, p lies between ${Math.min(...ps).toFixed(4)} and ${Math.max(...ps).toFixed(4)}.</p>
<details><summary>${counted(rows.length, "number")} of trials, each tried</summary>${scrolling(
    caption,
    table(
      caption,
      [
        { head: "trials in a run", number: true },
        { head: name, number: true },
        { head: against, number: true },
        { head: "Fisher, two-sided p", number: true },
      ],
      rows,
    ),
  )}</details>`;
}
