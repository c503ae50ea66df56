/** Looks in a row that find nothing new, kept in the conversation as one. */
import { describe, expect, test } from "vitest";
import type { Economy } from "../../src/agent/context.ts";
import { PLAIN_HABITS } from "../../src/agent/model.ts";
import type { Plan } from "../../src/agent/plan.ts";
import { seconds } from "../../src/policy/time.ts";
import { aRun, awaits, command, every, hangs, only, runs, submits } from "../aRun.ts";

const cache = {
  lifetime: seconds(3_600),
  mode: "hard",
  gone: seconds(3_600),
  write: 1.25,
  read: 0.1,
  least: 0,
} as const;
const economy: Economy = { cache, price: { input: 3, output: 15 } };
const context = { ...PLAIN_HABITS.context, start: 10_000, step: 1_000, poll: 50 };
const looking = { step: seconds(10), between: [{ does: "status", p: 1 }], context } as const;

const pollsOf = (fold: boolean, phase = hangs()) => {
  const plan: Plan = [runs(command(phase), { background: true, neededLater: true }), awaits(), submits];
  const events = aRun({ settings: { poll_folding: fold }, profile: looking, plan, economy, outerLimit: 75 });
  return only(events, "model_asked").filter(({ purpose }) => purpose === "poll");
};

describe("looks that find nothing new", () => {
  test("each stay in the conversation, where nothing folds them", () => {
    expect(pollsOf(false).map(({ prompt }) => prompt)).toEqual([
      11_000, 11_050, 11_100, 11_150, 11_200, 11_250, 11_300, 11_350,
    ]);
  });

  test("are one, where they are folded: from the second on nothing is added", () => {
    expect(pollsOf(true).map(({ prompt }) => prompt)).toEqual([
      11_000, 11_050, 11_050, 11_050, 11_050, 11_050, 11_050, 11_050,
    ]);
  });

  test("cost what was cached behind the place where they are folded: it is written anew", () => {
    expect(pollsOf(true).map(({ cacheRead }) => cacheRead)).toEqual([
      10_000, 11_000, 11_000, 11_000, 11_000, 11_000, 11_000, 11_000,
    ]);
    expect(
      pollsOf(false)
        .map(({ cacheRead }) => cacheRead)
        .at(-1),
    ).toBe(11_300);
  });

  test("are kept apart by one that finds something", () => {
    // A line of two bytes is one token; it comes every 25 s.
    expect(pollsOf(true, hangs(every(25))).map(({ prompt }) => prompt)).toEqual([
      11_000, 11_050, 11_050, 11_101, 11_151, 11_202, 11_252, 11_252,
    ]);
  });
});
