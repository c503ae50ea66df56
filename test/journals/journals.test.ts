/**
 * What happens, told to a person: every scenario that ships, under every arm that ships, and every case under its own arms.
 *
 * `npm run journals` writes them anew; the difference is the review.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { journal } from "../../src/agent/journal.ts";
import { replay } from "../../src/experiment/conduct.ts";
import { seconds } from "../../src/policy/time.ts";
import { keyed } from "../../src/random.ts";
import { drawScenario, replicateKey } from "../../src/scenario/draw.ts";
import { loadPanel, loadScenario, shippedArms } from "../../src/scenario/load.ts";
import { root, writing } from "../program.ts";

const scenarios = readdirSync(join(root, "scenarios"))
  .filter((file) => file.endsWith(".yaml"))
  .filter((file) => /^scenario:/m.test(readFileSync(join(root, "scenarios", file), "utf8")))
  .map((file) => file.replace(/\.yaml$/, ""));

for (const name of scenarios) {
  for (const arm of shippedArms()) {
    test(`${name} under ${arm.arm}`, () => {
      const replicate = replicateKey(keyed, 1, 1);
      const task = drawScenario(loadScenario(name), keyed, replicate);
      kept(`${name}.${arm.arm}.txt`, journal(replay(arm, task, seconds(10), replicate)));
    });
  }
}

const cases = readdirSync(join(root, "panels/cases")).map((file) => file.replace(/\.yaml$/, ""));

for (const name of cases) {
  const { arms, source, cutGrace } = loadPanel(`panels/cases/${name}.yaml`);
  // A sweep is told by its figures.
  if (arms.length > 3 || !("scenarios" in source)) continue;
  for (const scenario of source.scenarios) {
    for (const arm of arms) {
      test(`${scenario.scenario} under ${arm.arm}`, () => {
        const replicate = replicateKey(keyed, 1, 1);
        const task = drawScenario(scenario, keyed, replicate);
        kept(`cases/${scenario.scenario}.${arm.arm}.txt`, journal(replay(arm, task, cutGrace, replicate)));
      });
    }
  }
}

/** The lines of a journal as they were kept. */
function kept(name: string, lines: readonly string[]): void {
  const told = `${lines.join("\n")}\n`;
  const file = join(root, "test/journals", name);
  if (writing) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, told);
  }
  expect(existsSync(file), `${file} is missing: npm run journals`).toBe(true);
  expect(told).toBe(readFileSync(file, "utf8"));
}

test("there are scenarios to tell", () => {
  expect(scenarios).toEqual(expect.arrayContaining(["early-failure", "hung-test-run", "never-ending-test"]));
});
