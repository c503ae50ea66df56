/**
 * The live world on real children and the machine's clock, a hundred times as fast: the same promises, in the same suite.
 *
 * Rows run side by side, as each mostly waits. I1 and W6 hold for an hour and more, so they run four times as fast again.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TrialEvent } from "../../src/agent/events.ts";
import { childrenPort } from "../../src/world/children.ts";
import { realClock } from "../../src/world/clock.ts";
import { LiveWorld, trialOn } from "../../src/world/live.ts";
import { performing } from "../../src/world/performer.ts";
import type { EndedTrial } from "../../src/world/simulated.ts";
import { alone, type Candidate, candidate, command, every, lasts, runs, submits } from "../aRun.ts";

import { acceptance } from "./acceptance.ts";
import { calmTrial } from "./calm.ts";

// The first session loads what all need; nobody's time should be counted for it.
beforeAll(async () => {
  await onReal(candidate({ outerLimit: 100, plan: [runs(command(lasts(5, every(1)))), submits] }), 100);
});

const folder = mkdtempSync(join(tmpdir(), "yieldpoint-real-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let sessions = 0;

async function onReal(one: Candidate, speed: number): Promise<EndedTrial> {
  sessions += 1;
  const clock = realClock({ speed });
  const session = `real-${process.pid}-${sessions}`;
  const children = childrenPort({
    clock,
    folder: join(folder, session),
    session,
    environment: { PATH: process.env["PATH"] },
    cwd: folder,
  });
  clock.begin();
  try {
    return await trialOn(new LiveWorld(clock, performing(children, speed)), one);
  } finally {
    await children.endAll();
  }
}

acceptance("real", (one) => onReal(one, speedFor(one)), 3);

/** What takes more than an hour is told four times as fast. */
function speedFor({ outerLimit }: Candidate): number {
  return outerLimit > 4_000_000 ? 400 : 100;
}

describe.concurrent("random trials on real children", () => {
  const random = fc.sample(calmTrial, { numRuns: 20, seed: 20_261_130 });
  test.concurrent.each(random.map((spec, index) => [index + 1, spec] as const))(
    "number %d is as simulated: order, outcomes and reasons alike, times within 3 s",
    async (_, spec) => {
      const simulated = alone(candidate(spec));
      const real = await onReal(candidate(spec), 100);
      expect(real.events.map(toldWithoutTimes)).toEqual(simulated.events.map(toldWithoutTimes));
      for (const [index, event] of simulated.events.entries()) {
        expect(Math.abs(real.events[index]!.at - event.at), `${index} ${event.event}`).toBeLessThanOrEqual(3_000);
      }
    },
    60_000,
  );
});

/** What happened, without when. */
function toldWithoutTimes(event: TrialEvent): unknown {
  const { at: _, ...rest } = event;
  const untimed: Record<string, unknown> = { ...rest };
  for (const name of ["until", "startedAt", "effectiveCap", "command"]) delete untimed[name];
  if ("end" in event && event.end !== null)
    untimed["end"] = { by: event.end.by, code: event.end.code, signal: event.end.signal };
  return untimed;
}
