/**
 * A run beside an earlier one of the same panel: whose verdicts turned, and which figures moved.
 *
 * Made of two summaries. The same digest means the same rows, and then there is nothing to tell. A figure has moved where the two
 * intervals have nothing in common: cautious, for intervals may overlap though the figures differ, and enough to say where to look.
 */
import type { Summary } from "./summary.ts";

type Judged = Summary["hypotheses"][number];
type Figure = Summary["arms"][string][string];

export interface Baseline {
  readonly experiment: string;
  readonly digest: string;
  /** Of the earlier run. */
  readonly panel: string;
  /** Of the run that is held against it. */
  readonly of_panel: string;
  /** Whether every row of both is the same. */
  readonly same: boolean;
  /** Hypotheses whose verdict is another, and such as only one of the two declares. */
  readonly verdicts: readonly {
    readonly hypothesis: string;
    readonly was: string | null;
    readonly is: string | null;
  }[];
  /** By arm and measure, where the two intervals have nothing in common. */
  readonly moved: readonly {
    readonly arm: string;
    readonly measure: string;
    readonly was: Figure;
    readonly is: Figure;
  }[];
  readonly arms_gone: readonly string[];
  readonly arms_new: readonly string[];
}

export function heldAgainst(now: Summary, before: Summary): Baseline {
  const [is, was] = [verdictsOf(now), verdictsOf(before)];
  const declared = [...new Set([...is.keys(), ...was.keys()])];
  return {
    experiment: before.experiment,
    digest: before.digest,
    panel: before.panel,
    of_panel: now.panel,
    same: now.digest === before.digest,
    verdicts: declared
      .map((hypothesis) => ({ hypothesis, was: was.get(hypothesis) ?? null, is: is.get(hypothesis) ?? null }))
      .filter((each) => each.was !== each.is),
    moved: Object.entries(now.arms).flatMap(([arm, measures]) =>
      Object.entries(measures).flatMap(([measure, figure]) => {
        const earlier = own(own(before.arms, arm) ?? {}, measure);
        return earlier !== undefined && areApart(figure, earlier) ? [{ arm, measure, was: earlier, is: figure }] : [];
      }),
    ),
    arms_gone: Object.keys(before.arms).filter((arm) => !Object.hasOwn(now.arms, arm)),
    arms_new: Object.keys(now.arms).filter((arm) => !Object.hasOwn(before.arms, arm)),
  };
}

function verdictsOf({ hypotheses, verdict }: Summary): ReadonlyMap<string, string> {
  return new Map(hypotheses.map((judged) => [nameOf(judged), verdict.withheld === null ? judged.verdict : "WITHHELD"]));
}

/** A hypothesis in words that are the same in every run that declares it. */
export function nameOf({ measure, arm, against, expect, by, margin, margin_absolute: absolute, kind }: Judged): string {
  const more = Object.entries({ by, margin, margin_absolute: absolute, kind }).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key} ${value}`],
  );
  return [`${measure}: ${arm}${against === null ? "" : ` against ${against}`}, ${expect}`, ...more].join(", ");
}

/** Without intervals two figures are apart where they are not the same. */
function areApart(one: Figure, other: Figure): boolean {
  const [a, b] = [one, other].map(({ value, low, high }) => ({ low: low ?? value, high: high ?? value })) as [
    Ends,
    Ends,
  ];
  return a.high < b.low || b.high < a.low;
}

interface Ends {
  readonly low: number;
  readonly high: number;
}

function own<Value>(of: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined;
}
