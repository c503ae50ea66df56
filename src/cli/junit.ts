/**
 * A run's verdict as JUnit XML, which every CI system shows: one suite for the panel, one case for each hypothesis.
 *
 * FAIL is a failure; NOT SHOWN is skipped, and a failure where the caller is strict; where the verdict is withheld, every case
 * is an error. A panel without hypotheses has one case, so that no CI takes an empty file for a broken one.
 */
import type { Summary } from "../report/report.ts";

type Judged = Summary["hypotheses"][number];

/** @param strict whether NOT SHOWN counts as a failure */
export function junitOf({ panel, question, digest, verdict, hypotheses }: Summary, strict: boolean): string {
  const cases =
    hypotheses.length === 0
      ? [testcase(panel, question, verdict.withheld === null ? null : outcome("error", verdict.withheld, ""))]
      : hypotheses.map((judged) => testcase(panel, nameOf(judged), outcomeOf(judged, verdict.withheld, strict)));
  const count = (element: string) => cases.filter((each) => each.includes(`<${element} `)).length;
  const counts = `tests="${cases.length}" failures="${count("failure")}" errors="${count("error")}" skipped="${count("skipped")}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="yieldpoint" ${counts}>
  <testsuite name="${text(panel)}" ${counts}>
    <properties><property name="digest" value="${text(digest)}"/></properties>
${cases.join("\n")}
  </testsuite>
</testsuites>
`;
}

/** `outer_timeout: budgeted against treatment, lower`: the same in every run of a panel, whatever comes of it. */
function nameOf({ measure, arm, against, expect, by, margin, margin_absolute: absolute, kind }: Judged): string {
  const pair = against === null ? arm : `${arm} against ${against}`;
  const bound = [
    ...(by === undefined ? [] : [`by ${by}`]),
    ...(margin === undefined ? [] : [`margin ${margin}`]),
    ...(absolute === undefined ? [] : [`margin_absolute ${absolute}`]),
    ...(kind === undefined ? [] : [`in ${kind} trials`]),
  ];
  return [`${measure}: ${pair}, ${expect}`, ...bound].join(", ");
}

function outcomeOf({ verdict, sentence }: Judged, withheld: string | null, strict: boolean): string | null {
  if (withheld !== null) return outcome("error", `verdict withheld: ${withheld}`, sentence);
  if (verdict === "PASS") return null;
  if (verdict === "FAIL" || strict) return outcome("failure", verdict, sentence);
  return outcome("skipped", `${verdict}: ${sentence}`, "");
}

function outcome(element: "failure" | "error" | "skipped", message: string, more: string): string {
  const type = element === "skipped" ? "" : ` type="${element === "error" ? "withheld" : "verdict"}"`;
  return `<${element} message="${text(message)}"${type}>${text(more)}</${element}>`;
}

function testcase(panel: string, name: string, inside: string | null): string {
  const opened = `    <testcase classname="${text(panel)}" name="${text(name)}"`;
  return inside === null ? `${opened}/>` : `${opened}>${inside}</testcase>`;
}

/** Text of an element or an attribute. What XML 1.0 cannot say at all becomes U+FFFD. */
function text(value: string): string {
  return value
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replace(/[&<>"'\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}
