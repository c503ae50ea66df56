/**
 * What a hypothesis declares, in words, and what the data say to it.
 *
 * Lower and higher are decided as `stats/verdict.ts` says. A margin or a share turns the question round: not whether there is any
 * difference, but whether the whole interval lies on the right side of a bound that stood before the data did. Where a share of the
 * other arm's value is meant, the interval is that of the relative change.
 */
import { studentP } from "../stats/pValue.ts";
import { type Verdict, verdict } from "../stats/verdict.ts";
import { CONFIDENCE, type Difference, type Estimated } from "./estimates.ts";
import type { Hypothesis } from "./experiment.ts";
import { plain, suffix, type Unit } from "./numbers.ts";

/** Which figure decides, and on which side of what it has to lie. */
export interface Decided {
  /** Taken alone, whatever else is declared beside it. */
  readonly verdict: Verdict;
  /** Two-sided, against the bound. */
  readonly p: number;
  /** The interval of the difference, that of the relative change where a share is declared, or a permutation. */
  readonly by: "difference" | "relative" | "permutation";
  /** What the interval is held against. */
  readonly bound: number;
}

/** Why nothing can be said. */
export interface Undecided {
  readonly why: string;
}

/** What it expects, as words that follow a measure: "lower", "at most 1 % higher". */
export function declaration({ expect, by, margin, margin_absolute }: Hypothesis, unit: Unit): string {
  switch (expect) {
    case "zero":
      return "0 in every trial";
    case "lower":
    case "higher":
      return by === undefined ? expect : `at least ${percent(by)} ${expect}`;
    case "not_lower":
    case "not_higher": {
      const side = expect === "not_lower" ? "lower" : "higher";
      if (margin_absolute !== undefined) return `at most ${amount(margin_absolute, unit)} ${side}`;
      return margin === undefined || margin === 0 ? `not ${side}` : `at most ${percent(margin)} ${side}`;
    }
  }
}

/** What else was found, where the data say the contrary. */
export function contrary({ expect, by }: Hypothesis): string {
  if (by !== undefined) return "found to fall short of it";
  if (expect === "lower") return "found higher";
  if (expect === "higher") return "found lower";
  return `found ${expect === "not_lower" ? "lower" : "higher"} than that`;
}

const percent = (share: number) => `${plain(share * 100)} %`;
/** A number that stands for itself, and has no interval to say how many of its digits count. */
export const amount = (of: number, unit: Unit) =>
  unit === "share" ? `${plain(of * 100)} points` : `${plain(of)}${suffix(unit)}`;

export function decide(hypothesis: Hypothesis, difference: Difference): Decided | Undecided {
  const { expect, by: share } = hypothesis;
  const { low, high, permutation } = difference;
  if (low === null || high === null) return { why: difference.refusal ?? "the data carry no interval" };
  if (share === undefined && (expect === "lower" || expect === "higher")) {
    const whole = { ...difference, low, high, confidence: CONFIDENCE };
    const alone = verdict(expect, whole, permutation);
    if (permutation !== null) return { verdict: alone, p: permutation.p, by: "permutation", bound: 0 };
    return { verdict: alone, p: difference.p ?? pOf(whole, 0, alone), by: "difference", bound: 0 };
  }
  if (share !== undefined) {
    const change = difference.relative;
    if (change === null) return { why: "the other arm's value is 0, and nothing is a share of that" };
    const saved = expect === "lower" ? mirrored(change) : change;
    if (saved.low === null || saved.high === null) return { why: "the data carry no interval of the relative change" };
    const said = saved.low >= share ? "PASS" : saved.high < share ? "FAIL" : "NOT SHOWN";
    const bound = expect === "lower" ? -share : share;
    return { verdict: said, p: pOf(change, bound, said), by: "relative", bound };
  }
  return withinMargin(hypothesis, difference);
}

/** No worse than a margin: the end of the interval on the bad side lies within it. */
function withinMargin(
  { expect, margin = 0, margin_absolute }: Hypothesis,
  difference: Difference,
): Decided | Undecided {
  // A share of nothing is nothing: then the difference itself must not lie on the bad side.
  const isShare = margin_absolute === undefined && margin > 0 && difference.relative !== null;
  const figure = isShare ? difference.relative! : difference;
  const most = margin_absolute ?? (isShare ? margin : 0);
  const worse = expect === "not_higher" ? figure : mirrored(figure);
  if (worse.low === null || worse.high === null) return { why: "the data carry no interval of the relative change" };
  const said = worse.high <= most ? "PASS" : worse.low > most ? "FAIL" : "NOT SHOWN";
  const bound = expect === "not_higher" ? most : -most;
  return { verdict: said, p: pOf(figure, bound, said), by: isShare ? "relative" : "difference", bound };
}

/** Where there is no doubt about the value, a bound that it just keeps is kept for certain. */
function pOf({ value, low, high, n }: Estimated, bound: number, said: Verdict): number {
  if (low === null || high === null) return 1;
  if (low === high && said !== "NOT SHOWN") return 0;
  return studentP({ value, low, high, n, confidence: CONFIDENCE }, bound);
}

function mirrored({ value, low, high }: Estimated): Pick<Estimated, "value" | "low" | "high"> {
  return { value: -value, low: high === null ? null : -high, high: low === null ? null : -low };
}
