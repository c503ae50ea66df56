/** Worlds of two tables, so that one can see whether a file holds whole ones. */
import { type Batch, openBatch, seconds, table, whole } from "../../src/telemetry/table.ts";

export const trials = table("trials", "one row for each trial", {
  world: whole("which world"),
  trial: whole("which trial"),
});
export const calls = table("calls", "one row for each call", {
  world: whole("which world"),
  call: whole("which call"),
  held_seconds: seconds("how long it held the model"),
});

/** How many rows a world has; no two neighbours have as many. */
export const trialsIn = (world: number) => 100 + (world % 7);
export const callsIn = (world: number) => 20_000 + 1_000 * (world % 11);

export function worldOf(world: number): Batch[] {
  const one = openBatch(trials, {});
  for (let trial = 0; trial < trialsIn(world); trial += 1) {
    one.columns.world.push(world);
    one.columns.trial.push(trial);
  }
  const other = openBatch(calls, {});
  for (let call = 0; call < callsIn(world); call += 1) {
    other.columns.world.push(world);
    other.columns.call.push(call);
    other.columns.held_seconds.push((call * 7_919) % 240_000);
  }
  return [one, other];
}
