/**
 * What happens, told to a person: every scenario that ships, under every arm that ships.
 *
 * `npm run journals` writes them anew; the difference is the review.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { journal } from "../../src/agent/journal.ts";
import { replay } from "../../src/experiment/conduct.ts";
import { seconds } from "../../src/policy/time.ts";
import { keyed } from "../../src/random.ts";
import { drawScenario, replicateKey } from "../../src/scenario/draw.ts";
import { loadScenario, shippedArms } from "../../src/scenario/load.ts";
import { root, writing } from "../program.ts";

const scenarios = readdirSync(join(root, "scenarios"))
  .filter((file) => file.endsWith(".yaml"))
  .filter((file) => /^scenario:/m.test(readFileSync(join(root, "scenarios", file), "utf8")))
  .map((file) => file.replace(/\.yaml$/, ""));

for (const name of scenarios) {
  for (const arm of shippedArms()) {
    test(`${name} under ${arm.arm}`, () => {
      const task = drawScenario(loadScenario(name), keyed, replicateKey(keyed, 1, 1));
      const told = `${journal(replay(arm, task, seconds(10))).join("\n")}\n`;
      const file = join(root, "test/journals", `${name}.${arm.arm}.txt`);
      if (writing) writeFileSync(file, told);
      expect(existsSync(file), `${file} is missing: npm run journals`).toBe(true);
      expect(told).toBe(readFileSync(file, "utf8"));
    });
  }
}

test("there are scenarios to tell", () => {
  expect(scenarios).toEqual(expect.arrayContaining(["early-failure", "hung-test-run", "never-ending-test"]));
});
