import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { junitOf } from "../../src/cli/junit.ts";
import { verdictCode } from "../../src/cli/summary.ts";
import type { Summary } from "../../src/report/report.ts";

type Verdict = Summary["hypotheses"][number]["verdict"];

function summary(verdicts: readonly Verdict[], more: Partial<Summary> = {}): Summary {
  const hypotheses = verdicts.map((verdict, at) => ({
    ...{ measure: "reward", arm: `arm ${at}`, against: "control", expect: "higher" as const },
    ...{ verdict, effect: null, n: 30, sentence: `what came of arm ${at}` },
  }));
  const told = { panel: "a panel", question: "does it?", digest: "00ff", verdict: { withheld: null, sentence: "" } };
  return { ...told, hypotheses, ...more } as unknown as Summary;
}

/** Reads what XML 1.0 says is well formed, of the little that is written here: elements, attributes in double quotes, references. */
function parsed(
  xml: string,
): readonly { readonly name: string; readonly attributes: Readonly<Record<string, string>> }[] {
  expect(xml).not.toMatch(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u);
  const unescaped = (text: string) => text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
  const found: { name: string; attributes: Record<string, string> }[] = [];
  const open: string[] = [];
  const body = xml.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, "");
  let at = 0;
  for (const { 0: tag, index } of body.matchAll(/<[^>]*>/g)) {
    expect(body.slice(at, index)).not.toMatch(/[<>]|&(?!#\d+;)/);
    at = index + tag.length;
    const match = /^<(\/?)([a-z]+)((?: [a-z]+="[^"<>]*")*)(\/?)>$/.exec(tag);
    expect(match, tag).not.toBeNull();
    const [, closing, name, attributes, empty] = match!;
    if (closing) expect(open.pop()).toBe(name);
    else {
      const pairs = [...attributes!.matchAll(/ ([a-z]+)="([^"]*)"/g)].map(([, key, value]) => [
        key!,
        unescaped(value!),
      ]);
      found.push({ name: name!, attributes: Object.fromEntries(pairs) });
      if (!empty) open.push(name!);
    }
  }
  expect(open).toEqual([]);
  return found;
}

const elements = (xml: string, name: string) => parsed(xml).filter((each) => each.name === name);

describe("a verdict for CI", () => {
  test("has a case for each hypothesis: passed, failed, or skipped where it is not shown", () => {
    const xml = junitOf(summary(["PASS", "FAIL", "NOT SHOWN"]), false);
    expect(elements(xml, "testcase").map(({ attributes }) => attributes["name"])).toEqual([
      "reward: arm 0 against control, higher",
      "reward: arm 1 against control, higher",
      "reward: arm 2 against control, higher",
    ]);
    expect(elements(xml, "testsuite")[0]!.attributes).toMatchObject({
      tests: "3",
      failures: "1",
      errors: "0",
      skipped: "1",
    });
    expect(elements(xml, "failure").map(({ attributes }) => attributes["message"])).toEqual(["FAIL"]);
    expect(elements(xml, "skipped")[0]!.attributes["message"]).toBe("NOT SHOWN: what came of arm 2");
  });

  test("fails under --strict what is not shown, in the exit code as in the file", () => {
    const open = summary(["PASS", "NOT SHOWN"]);
    expect(elements(junitOf(open, true), "testsuite")[0]!.attributes).toMatchObject({ failures: "1", skipped: "0" });
    expect([verdictCode(open, false), verdictCode(open, true)]).toEqual([0, 1]);
    expect([false, true].map((strict) => verdictCode(summary(["PASS", "PASS"]), strict))).toEqual([0, 0]);
    expect([false, true].map((strict) => verdictCode(summary(["FAIL"]), strict))).toEqual([1, 1]);
  });

  test("is an error throughout where the verdict is withheld", () => {
    const xml = junitOf(
      summary(["NOT SHOWN", "NOT SHOWN"], { verdict: { withheld: "incomplete", sentence: "" } }),
      false,
    );
    expect(elements(xml, "testsuite")[0]!.attributes).toMatchObject({
      tests: "2",
      errors: "2",
      failures: "0",
      skipped: "0",
    });
  });

  test("has one case where nothing is declared", () => {
    expect(elements(junitOf(summary([]), true), "testcase")).toHaveLength(1);
  });

  test("is well formed and says what was said, whatever anything is called", () => {
    const names = fc.string({ unit: "binary", maxLength: 40 });
    const hostile = fc.oneof(
      names,
      fc.constantFrom("]]><!--", '</testcase>"', "&amp;<x/>", "\u0000\u0008\ufffe", "\u202e"),
    );
    fc.assert(
      fc.property(hostile, hostile, (panel, sentence) => {
        const told = summary(["FAIL"], { panel });
        const xml = junitOf({ ...told, hypotheses: [{ ...told.hypotheses[0]!, arm: sentence, sentence }] }, false);
        const sayable = panel.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
        expect(elements(xml, "testsuite")[0]!.attributes["name"]).toBe(sayable);
        expect(elements(xml, "testcase")).toHaveLength(1);
        expect(elements(xml, "failure")).toHaveLength(1);
      }),
    );
  });
});
