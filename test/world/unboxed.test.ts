/**
 * What makes the simulator fast and no result shows: a number that fits is a small integer, never in a box of its own.
 *
 * One boxed moment makes V8 keep doubles in every object that begins with the same fields, from there on and for good: it was
 * seen to halve the events per second of a long run.
 */
import { serialize } from "node:v8";
import { expect, test } from "vitest";
import { conductWorld } from "../../src/experiment/conduct.ts";
import { scheduled } from "../../src/experiment/schedule.ts";
import { never, seconds, unboxed } from "../../src/policy/time.ts";
import { keyed } from "../../src/random.ts";
import { loadPanel } from "../../src/scenario/load.ts";

/** V8 writes a small integer down with a tag of its own. */
const isBoxed = (number: number) => serialize(number)[2] !== "I".charCodeAt(0);

/** Every boxed number in what happened that would not need its box, by where it stands. */
function boxes(value: unknown, where: string, found: Set<string>): Set<string> {
  if (typeof value === "number") {
    if ((value | 0) === value && isBoxed(value)) found.add(where);
  } else if (value !== null && typeof value === "object") {
    for (const [name, part] of Object.entries(value)) boxes(part, `${where}.${name}`, found);
  }
  return found;
}

test("a moment that fits is taken out of its box, one that does not keeps it", () => {
  const [boxed] = new Float64Array([seconds(240)]);
  expect(isBoxed(boxed!)).toBe(true);
  expect(isBoxed(unboxed(boxed!))).toBe(false);
  expect(unboxed(boxed!)).toBe(240_000);
  for (const kept of [never, 0.5, -0.5, 2 ** 31, -(2 ** 31) - 1]) expect(unboxed(kept)).toBe(kept);
});

test.each(["long-tail", "deepswe-headline"])("nothing that happens in %s is boxed", (name) => {
  const panel = loadPanel(`panels/${name}.yaml`);
  const tasks = scheduled(panel, keyed);
  const found = new Set<string>();
  for (let replicate = 1; replicate <= 2; replicate += 1) {
    conductWorld(panel, tasks, replicate, ({ events }) => {
      for (const event of events) boxes(event, event.event, found);
    });
  }
  expect([...found]).toEqual([]);
});
