/** A live world on a fake clock, with scripted processes: the live driver without a machine. */
import { fakeClock } from "../../src/world/clock.ts";
import { LiveWorld, trialOn } from "../../src/world/live.ts";
import { scriptedPort } from "../../src/world/scriptedPort.ts";
import type { EndedTrial } from "../../src/world/simulated.ts";
import { type Candidate, providerFor } from "../aRun.ts";

export async function onFakeTimers(candidate: Candidate): Promise<EndedTrial> {
  const clock = fakeClock();
  const world = new LiveWorld(clock, scriptedPort(clock, candidate.host ?? null));
  const ended = trialOn(world, candidate, providerFor(candidate));
  clock.run();
  return await ended;
}
