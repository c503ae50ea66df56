/** The live driver on fake timers is the simulated world, to the byte. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { journal } from "../../src/agent/journal.ts";
import { entrant } from "../../src/experiment/conduct.ts";
import { scheduled } from "../../src/experiment/schedule.ts";
import { keyed } from "../../src/random.ts";
import { drawScenario, replicateKey } from "../../src/scenario/draw.ts";
import { loadPanel, loadScenario, shippedArms } from "../../src/scenario/load.ts";
import { alone, type Candidate, candidate } from "../aRun.ts";
import { anyTrial, someHost, someProvider, someTrial } from "../arbitraries.ts";
import { root } from "../program.ts";
import { acceptance } from "./acceptance.ts";
import { onFakeTimers } from "./fakeTimers.ts";

acceptance("fake-timers", onFakeTimers);

async function same(one: Candidate): Promise<void> {
  const simulated = alone(one);
  const live = await onFakeTimers(one);
  expect(journal(live.events)).toEqual(journal(simulated.events));
  expect(JSON.stringify(live.events)).toBe(JSON.stringify(simulated.events));
  expect(live.endedAt).toBe(simulated.endedAt);
}

describe("journals of the simulated and the fake-timers world are equal to the byte", () => {
  const scenarios = readdirSync(join(root, "scenarios"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".yaml"))
    .filter((file) => /^scenario:/m.test(readFileSync(join(root, "scenarios", file), "utf8")));
  for (const file of scenarios) {
    test.each(shippedArms().map((arm) => [arm.arm, arm] as const))(`${file} under %s`, async (_, arm) => {
      const task = drawScenario(loadScenario(join(root, "scenarios", file)), keyed, replicateKey(keyed, 1, 1));
      await same(entrant(arm, task, keyed, () => {}));
    });
  }

  const panels = readdirSync(join(root, "panels"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".yaml"))
    .filter((file) => /^panel:/m.test(readFileSync(join(root, "panels", file), "utf8")));
  test.each(panels)("%s, every arm with its provider and its host", async (file) => {
    const panel = loadPanel(join(root, "panels", file));
    // Of a population a few tasks.
    for (const task of scheduled(panel, keyed)(1).slice(0, 6)) {
      for (const arm of panel.arms) {
        await same({
          ...entrant(arm, task, keyed, () => {}),
          ...(arm.provider === null ? null : { provider: arm.provider.terms }),
          ...(arm.host === null ? null : { host: arm.host }),
        });
      }
    }
  });

  test("1,000 random trials", async () => {
    await fc.assert(fc.asyncProperty(someTrial, (spec) => same(candidate(spec))));
  }, 300_000);

  test("1,000 random trials with all that there is to a trial, a provider and a host", async () => {
    const surrounded = fc
      .tuple(anyTrial, fc.option(someProvider), fc.option(someHost))
      .map(([spec, provider, host]) => ({
        ...spec,
        ...(provider === null ? null : { provider }),
        ...(host === null ? null : { host }),
      }));
    await fc.assert(fc.asyncProperty(surrounded, (spec) => same(candidate(spec))));
  }, 300_000);
});
