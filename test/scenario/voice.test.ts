/** Whatever is done to a file, what is said of it is said in our voice, and the program does not break. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isMap, isSeq, parse, parseDocument, stringify } from "yaml";
import { lintFile } from "../../src/scenario/lint.ts";
import { packageRoot } from "../../src/scenario/names.ts";
import { PANEL, PROFILE, PROVIDER, SCENARIO } from "./everything.ts";
import { folder, shippedText } from "./files.ts";

const folders = ["scenarios", "panels", "panels/policies", "panels/profiles", "panels/providers"];
const files = folders.flatMap((place) =>
  readdirSync(join(packageRoot, place))
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => `${place}/${file}`),
);

const texts: readonly (readonly [string, string])[] = [
  ...files.map((file) => [file, shippedText(file)] as const),
  ...Object.entries({ SCENARIO, PROFILE, PROVIDER, PANEL }).map(
    ([kind, text]) => [`everything: ${kind}`, text] as const,
  ),
];

/** Every place in a file, as a path of keys. */
function places(node: unknown, path: readonly (string | number)[] = []): readonly (readonly (string | number)[])[] {
  const inner = isMap(node)
    ? node.items.flatMap(({ key, value }) => places(value, [...path, String(key)]))
    : isSeq(node)
      ? node.items.flatMap((item, at) => places(item, [...path, at]))
      : [];
  return path.length === 0 ? inner : [path, ...inner];
}

const junk = fc.oneof(
  fc.constantFrom(
    null,
    true,
    -1,
    0,
    0.5,
    1e300,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    "",
    "30s",
    "1_000",
    "none",
    "__proto__",
  ),
  fc.constantFrom<unknown>(
    [],
    {},
    [[]],
    [{}],
    { run: 3 },
    { output: "none" },
    { lognormal: {} },
    [{ p: 2 }],
    ["long", "long"],
    { seconds: 3, steps: 2 },
    { exit: -1 },
    [{ do: "wait", p: 1 }],
    { uniform: [1, 2] },
  ),
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.integer(),
);

/** Where, and a sentence. */
const OURS = /^f\.yaml(:\d+:\d+)?: \S+ .*\w+/s;
/** How zod, yaml and JavaScript speak. */
const THEIRS =
  /Invalid|received|Too (small|big)|Unrecognized|undefined|\[object|Nested|Implicit|Flow|Map keys|Unresolved|Unexpected/;

describe.each(texts)("%s", (_, text) => {
  test("spoilt in some place, is told so in our words", () => {
    const all = places(parseDocument(text).contents);
    const { path } = folder({ "f.yaml": "" });
    fc.assert(
      fc.property(
        fc.constantFrom(...all),
        fc.oneof(junk, fc.constant("▸leave out"), fc.constant("▸rename")),
        (place, spoil) => {
          const document = parseDocument(text);
          if (spoil === "▸leave out") document.deleteIn(place);
          else if (spoil === "▸rename" && typeof place.at(-1) === "string") {
            const value = parse(stringify(document.getIn(place)));
            document.deleteIn(place);
            document.setIn([...place.slice(0, -1), `${place.at(-1)}x`], value);
          } else document.setIn(place, spoil);
          writeFileSync(path("f.yaml"), document.toString());
          for (const fault of lintFile(path("f.yaml")).faults) {
            expect(fault.replace(`${path("")}/`, "")).toMatch(OURS);
            expect(fault).not.toMatch(THEIRS);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

test("bytes of any kind are refused in words", () => {
  const { path } = folder({ "f.yaml": "" });
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 64 }), fc.string({ unit: "grapheme", maxLength: 40 }));
  fc.assert(
    fc.property(bytes, (content) => {
      writeFileSync(path("f.yaml"), content);
      const { faults } = lintFile(path("f.yaml"));
      expect(faults.length).toBeGreaterThan(0);
      for (const fault of faults) expect(fault).not.toMatch(THEIRS);
    }),
  );
});
