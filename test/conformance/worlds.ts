/** The worlds in which time costs nothing: what is promised of one is promised of both. */
import { alone } from "../aRun.ts";
import type { Perform } from "./acceptance.ts";
import { onFakeTimers } from "./fakeTimers.ts";

export const worlds: readonly (readonly [string, Perform])[] = [
  ["simulated", (candidate) => alone(candidate)],
  ["fake-timers", onFakeTimers],
];
