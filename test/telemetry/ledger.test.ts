/**
 * The ledger law: every millisecond of a trial belongs to one part, whatever calls and requests run side by side.
 *
 * Held against the definition itself, millisecond by millisecond: of all that is open the one that ends last has it.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ProcessId } from "../../src/agent/effects.ts";
import type { TrialEvent } from "../../src/agent/events.ts";
import {
  answered,
  asked,
  autoAwait,
  began,
  calls,
  cutOff,
  ended,
  exec,
  folded,
  jobBegan,
  jobEnded,
  lasting,
  returns,
  served,
  submitted,
} from "./told.ts";

type Part =
  | "model"
  | "provider_queue"
  | "provider_retry"
  | "initial_hold"
  | "auto_await"
  | "hard_hold"
  | "process_wait"
  | "other_tool"
  | "idle";

/** What an agent does next: after so long it begins, and then it takes so long. */
interface Deed {
  readonly what: "request" | "soft" | "hard" | "background" | "wait" | "status" | "stop";
  readonly gap: number;
  readonly length: number;
  /** Where it passes from one part to the next: of a soft hold its boundary, of a request the end of retries and of the queue. */
  readonly turns: readonly [number, number];
}

const deed = (what: readonly Deed["what"][]): fc.Arbitrary<Deed> =>
  fc.record({
    what: fc.constantFrom(...what),
    gap: fc.nat(4),
    length: fc.nat(9),
    turns: fc.tuple(fc.nat(11), fc.nat(11)),
  });

const EVERY = ["request", "soft", "hard", "background", "wait", "status", "stop"] as const;

interface Trial {
  /** One agent each; all begin together, as jobs. */
  readonly agents: readonly (readonly Deed[])[];
  /** When everybody is cut off, or the first job, if it is still at work; null: nobody is. */
  readonly cut: { readonly who: "all" | "job"; readonly when: number } | null;
}

const someTrial: fc.Arbitrary<Trial> = fc.boolean().chain((counted) =>
  fc.record({
    agents: fc.array(fc.array(deed(counted ? EVERY : EVERY.slice(1)), { maxLength: 6 }), {
      minLength: 1,
      maxLength: 4,
    }),
    cut: fc.option(fc.record({ who: fc.constantFrom("all", "job"), when: fc.integer({ min: 1, max: 40 }) }), {
      freq: 3,
    }),
  }),
);

/** Something that was open, with its parts in order, each until a moment. */
interface Stretch {
  readonly from: number;
  to: number;
  /** Which end it was, of all ends in order. */
  order: number;
  /** Its place among all that are cut off in one moment. */
  readonly rank: number;
  parts: readonly (readonly [Part, number])[];
}

interface Told {
  readonly events: readonly TrialEvent[];
  readonly stretches: readonly Stretch[];
  readonly duration: number;
}

/** Turns agents by turns: whatever is due first happens first, the agents in their order. */
function told({ agents, cut }: Trial): Told {
  const events: TrialEvent[] = [began(), ...agents.map((_, job) => jobBegan(0, `job ${job}`))];
  const stretches: Stretch[] = [];
  const lines = agents.map((deeds, job) => ({
    job,
    deeds: [...deeds],
    at: 0,
    open: null as (() => void) | null,
    stretch: null as Stretch | null,
    isOver: false,
  }));
  let [call, request, order, now] = [0, 0, 0, 0];
  const limit = cut?.who === "all" ? cut.when : Number.POSITIVE_INFINITY;
  const jobLimit = cut?.who === "job" ? cut.when : Number.POSITIVE_INFINITY;

  const begins = (line: (typeof lines)[number], { what, length, turns }: Deed): void => {
    const from = now;
    const to = from + length;
    const [first, second] = [Math.min(...turns), Math.max(...turns)];
    const rank = what === "request" ? request : 1_000 + call;
    const stretch = (parts: Stretch["parts"]): Stretch => ({ from, to, order: -1, rank, parts });
    if (what === "request") {
      request += 1;
      const own = request;
      events.push(asked(from, own));
      const [retried, queued] = [Math.min(from + first, to), Math.min(from + second, to)];
      line.stretch = stretch([
        ["provider_retry", retried],
        ["provider_queue", queued],
        ["model", to],
      ]);
      line.open = () =>
        events.push(answered(to, own, served({ retrying: lasting(first), queued: lasting(second - first) })));
    } else {
      call += 1;
      const own = call;
      if (what === "soft" || what === "hard" || what === "background") {
        events.push(
          exec(from, own, { held: what === "background" ? "none" : what, background: what === "background" }),
        );
        const boundary = Math.min(from + first, to);
        const isGranted = what === "soft" && from + first < to;
        line.stretch = stretch(
          what === "soft"
            ? [
                ["initial_hold", isGranted ? boundary : to],
                ["auto_await", to],
              ]
            : [[what === "hard" ? "hard_hold" : "other_tool", to]],
        );
        if (isGranted)
          grants.push({ at: boundary, grant: () => events.push(autoAwait(boundary, own)), stretch: line.stretch });
        line.open = () => events.push(returns(to, own, { end: ended(to) }));
      } else {
        events.push(calls(from, own, what));
        line.stretch = stretch([[what === "wait" ? "process_wait" : "other_tool", to]]);
        line.open = () => events.push(returns(to, own, { tool: what, process: 1 as ProcessId }));
      }
    }
    stretches.push(line.stretch!);
    line.at = to;
  };
  const grants: { at: number; grant: () => void; stretch: Stretch }[] = [];

  for (;;) {
    const dueAt = (line: (typeof lines)[number]) =>
      line.isOver ? Number.POSITIVE_INFINITY : line.open !== null ? line.at : line.at + (line.deeds[0]?.gap ?? 0);
    const next = lines.reduce((first, line) => (dueAt(line) < dueAt(first) ? line : first));
    const grant = grants.toSorted((a, b) => a.at - b.at)[0];
    const due = Math.min(dueAt(next), grant?.at ?? Number.POSITIVE_INFINITY);
    const [job] = lines;
    if (!job!.isOver && jobLimit <= due) {
      now = jobLimit;
      events.push(jobEnded(now, "job 0", "salvaged"));
      if (job!.open !== null) cuts(job!.stretch!, now);
      job!.isOver = true;
      continue;
    }
    if (due > limit) {
      now = limit;
      events.push(cutOff(now));
      // All end in this moment: requests first, then calls, each by its number.
      const open = lines.flatMap((line) => (line.open === null ? [] : [line.stretch!]));
      for (const stretch of open.toSorted((a, b) => a.rank - b.rank)) cuts(stretch, now);
      return { events, stretches, duration: now };
    }
    if (due === Number.POSITIVE_INFINITY) {
      events.push(submitted(now + 2));
      return { events, stretches, duration: now + 2 };
    }
    now = due;
    if (grant !== undefined && grant.at === due && grant.at <= dueAt(next)) {
      grants.splice(grants.indexOf(grant), 1);
      if (grant.stretch.order < 0) grant.grant();
      continue;
    }
    if (next.open !== null) {
      next.open();
      next.open = null;
      closes(next.stretch!, now);
    } else if (next.deeds.length > 0) begins(next, next.deeds.shift()!);
    else {
      next.isOver = true;
      events.push(jobEnded(now, `job ${next.job}`));
    }
  }

  /** Of a request that never comes to its end nobody knows what became of it: it was with the model. */
  function cuts(stretch: Stretch, when: number): void {
    if (stretch.parts[0]![0] === "provider_retry") stretch.parts = [["model", when]];
    closes(stretch, when);
  }

  function closes(stretch: Stretch, when: number): void {
    stretch.to = when;
    stretch.order = order;
    order += 1;
  }
}

const PARTS: readonly Part[] = [
  "model",
  "provider_queue",
  "provider_retry",
  "initial_hold",
  "auto_await",
  "hard_hold",
  "process_wait",
  "other_tool",
  "idle",
];

/** By the definition: for each millisecond, the part of what ends last among all that is open then. */
function byTheMillisecond({ stretches, duration, events }: Told): Record<Part, number> {
  const sums = Object.fromEntries(PARTS.map((part) => [part, 0])) as Record<Part, number>;
  const isCounted = events.some(({ event }) => event === "model_asked");
  for (let moment = 0; moment < duration; moment += 1) {
    const open = stretches.filter(({ from, to }) => from <= moment && moment < to);
    if (open.length === 0) sums[isCounted ? "idle" : "model"] += 1;
    else {
      const last = open.reduce((a, b) => (b.order > a.order ? b : a));
      sums[last.parts.find(([, until]) => moment < until)?.[0] ?? last.parts.at(-1)![0]] += 1;
    }
  }
  return sums;
}

test("every millisecond belongs to one part of the ledger, and to that of what ends last", () => {
  fc.assert(
    fc.property(someTrial, (trial) => {
      const story = told(trial);
      const row = folded(story.events, story.duration).trial as Readonly<Record<string, unknown>>;
      const own = Object.fromEntries(
        PARTS.map((part) => [part, Math.round((row[`${part}_seconds`] as number) * 1_000)]),
      );
      const expected = byTheMillisecond(story);
      expect(own).toEqual(expected);
      expect(Object.values(own).reduce((sum, part) => sum + part, 0)).toBe(story.duration);
    }),
  );
});

test("the ledger law looks at trials in which things do run side by side, and at some that are cut off in the middle", () => {
  const stories = fc.sample(someTrial, 500).map(told);
  const overlaps = stories.filter(({ stretches }) =>
    stretches.some((a, index) => stretches.some((b, other) => other > index && a.from < b.to && b.from < a.to)),
  );
  expect(overlaps.length).toBeGreaterThan(150);
  expect(stories.filter(({ events }) => events.at(-1)!.event === "cut_off").length).toBeGreaterThan(100);
  const salvaged = stories.filter(({ events }) =>
    events.some((event) => event.event === "job_ended" && event.result === "salvaged"),
  );
  expect(salvaged.length).toBeGreaterThan(50);
});
