/** The rooms of the house and which way each may look; read by the same rules as `npm run check`. */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cruise, type ICruiseResult } from "dependency-cruiser";
import { beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const { forbidden, options } = createRequire(import.meta.url)("../.dependency-cruiser.cjs");

const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter(
  (file) => file.endsWith(".ts") && !file.endsWith(".d.ts"),
);

describe("the rooms", () => {
  let result: ICruiseResult;
  beforeAll(async () => {
    const { output } = await cruise(["src"], { ...options, ruleSet: { forbidden }, validate: true, baseDir: root });
    result = output as ICruiseResult;
  }, 60_000);

  test("are all looked at: as many modules as there are sources", () => {
    const cruised = result.modules.filter(({ source }) => source.startsWith("src/") && !source.endsWith(".d.ts"));
    expect(cruised.length).toBe(sources.length);
    expect(sources.length).toBeGreaterThan(30);
  });

  test("look only down, in no circles, and one file knows DuckDB", () => {
    expect(result.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  });

  test("would be told apart by these rules: a decision that asks a world is a violation", async () => {
    const { output } = await cruise(["src"], {
      ...options,
      tsConfig: undefined,
      ruleSet: { forbidden },
      validate: true,
      baseDir: join(root, "test/fixtures/rooms"),
    });
    const names = new Set((output as ICruiseResult).summary.violations.map(({ rule }) => rule.name));
    expect([...names].sort()).toContain("policy-looks-only-down");
  });
});

test("no source reads a clock, a global generator or the environment but at the edge", () => {
  const edge =
    /^(cli|serve)\/|^world\/(clock|live|children|spool|tree|ending|leftBehind)\.ts$|^telemetry\/store\.ts$|^report\//;
  for (const file of sources.filter((name) => !edge.test(name))) {
    const text = readFileSync(join(root, "src", file), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    expect(text, file).not.toMatch(
      /Math\.random|Date\.now|new Date\(|performance\.|process\.env|setTimeout|setInterval/,
    );
  }
});
