import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keyed } from "../../src/random.ts";
import { BrokenPromise, type Due, Kernel, type KernelOptions, RANK, type Rank } from "../../src/world/kernel.ts";

/** Writes down what is delivered, and when; may do something about it. */
class Clerk implements Due {
  readonly kernel: Kernel;
  readonly seen: (readonly [at: number, what: number])[] = [];
  readonly #then: (what: number) => void;
  constructor(options: KernelOptions = {}, then: (what: number, clerk: Clerk) => void = () => {}) {
    this.kernel = new Kernel(options);
    this.#then = (what) => then(what, this);
  }
  due(what: number): void {
    this.seen.push([this.kernel.now, what]);
    this.#then(what);
  }
  schedule(at: number, what: number, rank: Rank = RANK.timer): number {
    return this.kernel.schedule(at, rank, this, what);
  }
  run(): readonly (readonly [at: number, what: number])[] {
    this.kernel.run();
    return this.seen;
  }
}

describe("the queue", () => {
  test("delivers by time, whenever an entry was scheduled", () => {
    const clerk = new Clerk();
    for (const at of [30, 10, 20]) clerk.schedule(at, at);
    expect(clerk.run()).toEqual([
      [10, 10],
      [20, 20],
      [30, 30],
    ]);
    expect([clerk.kernel.now, clerk.kernel.delivered]).toEqual([30, 3]);
  });

  test("delivers, at one moment, the host and the outside, exits, timers, who gives up, whose time is up, who may come in", () => {
    const clerk = new Clerk();
    const ranks = Object.values(RANK);
    for (const rank of [...ranks.slice(3), ...ranks.slice(0, 3)]) clerk.schedule(5, rank, rank);
    expect(clerk.run().map(([, what]) => what)).toEqual([
      RANK.host,
      RANK.outside,
      RANK.exit,
      RANK.timer,
      RANK.cancel,
      RANK.timeIsUp,
      RANK.cutOff,
      RANK.admission,
    ]);
  });

  test("delivers equals in the order in which they were scheduled", () => {
    const clerk = new Clerk();
    for (let what = 0; what < 2_000; what += 1) clerk.schedule(7, what);
    expect(clerk.run().map(([, what]) => what)).toEqual(Array.from({ length: 2_000 }, (_, what) => what));
  });

  test("delivers what is scheduled for this very moment, in its rank's turn", () => {
    const clerk = new Clerk({}, (what, { kernel }) => {
      if (what !== 1) return;
      clerk.schedule(kernel.now, 2);
      clerk.schedule(kernel.now, 3, RANK.exit);
    });
    clerk.schedule(4, 1);
    clerk.schedule(4, 4, RANK.cutOff);
    expect(clerk.run().map(([, what]) => what)).toEqual([1, 3, 2, 4]);
  });

  test("does not take an entry for the past", () => {
    const clerk = new Clerk({}, () => clerk.schedule(3, 2));
    clerk.schedule(4, 1);
    expect(() => clerk.run()).toThrow(new BrokenPromise("an entry was scheduled at 3, before now (4)"));
    expect(() => clerk.schedule(Number.NaN, 1)).toThrow(BrokenPromise);
  });
});

describe("an entry that was taken back", () => {
  test("is not delivered, and time does not go to it", () => {
    const clerk = new Clerk();
    clerk.schedule(1, 1);
    const token = clerk.schedule(2, 2);
    clerk.kernel.cancel(token);
    expect(clerk.run()).toEqual([[1, 1]]);
    expect([clerk.kernel.now, clerk.kernel.delivered]).toEqual([1, 1]);
  });

  test("can be taken back twice, and after it was delivered, without harm to whoever has its place", () => {
    const clerk = new Clerk({}, (what) => {
      if (what !== 1) return;
      clerk.schedule(5, 2);
      clerk.kernel.cancel(token);
    });
    const token = clerk.schedule(1, 1);
    expect(clerk.run()).toEqual([
      [1, 1],
      [5, 2],
    ]);
    clerk.kernel.cancel(token);
    clerk.kernel.cancel(token);
    clerk.schedule(6, 3);
    clerk.kernel.cancel(token);
    expect(clerk.run()).toHaveLength(3);
  });

  test("leaves a place that serves again, and the old token does not reach it", () => {
    const clerk = new Clerk();
    const old = clerk.schedule(1, 1);
    clerk.kernel.cancel(old);
    clerk.run();
    const fresh = clerk.schedule(2, 2);
    expect(fresh).not.toBe(old);
    clerk.kernel.cancel(old);
    expect(clerk.run()).toEqual([[2, 2]]);
  });

  test("named by no token at all is none", () => {
    const clerk = new Clerk();
    clerk.schedule(1, 1);
    clerk.kernel.cancel(-1);
    expect(clerk.run()).toEqual([[1, 1]]);
  });
});

describe("a world that does not end", () => {
  test("fails loudly at its limit, and says where it stands", () => {
    const clerk = new Clerk({ eventLimit: 1_000 }, (what, { kernel }) => {
      clerk.schedule(kernel.now + 5, what);
    });
    clerk.schedule(0, 1);
    expect(() => clerk.run()).toThrow(
      new BrokenPromise("the world did not end within 1000 events; it stands at 5000 ms"),
    );
    expect(clerk.seen).toHaveLength(1_000);
  });

  test("may have as many events as its limit", () => {
    const clerk = new Clerk({ eventLimit: 3 });
    for (const at of [1, 2, 3]) clerk.schedule(at, at);
    expect(clerk.run()).toHaveLength(3);
  });
});

type Act =
  | { readonly act: "schedule"; readonly later: number; readonly rank: Rank }
  | { readonly act: "cancel"; readonly which: number };

const someActs = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        act: fc.constant("schedule" as const),
        later: fc.oneof(fc.constantFrom(0, 1), fc.integer({ min: 0, max: 50 })),
        rank: fc.constantFrom(...Object.values(RANK)),
      }),
    },
    fc.record({ act: fc.constant("cancel" as const), which: fc.nat(60) }),
  ),
  { maxLength: 12 },
);

/** What is done before the world runs, and then on each delivery in turn. */
const someScript = fc.array(someActs, { minLength: 1, maxLength: 30 });

/** The same queue as a list that is sorted before each look at it. */
function modelled(script: readonly (readonly Act[])[]): readonly (readonly [number, number])[] {
  let queue: { at: number; rank: Rank; what: number }[] = [];
  const seen: [number, number][] = [];
  let now = 0;
  let scheduled = 0;
  const perform = (acts: readonly Act[] = []) => {
    for (const act of acts) {
      if (act.act === "schedule") queue.push({ at: now + act.later, rank: act.rank, what: scheduled++ });
      else queue = queue.filter(({ what }) => what !== act.which);
    }
  };
  perform(script[0]);
  for (let turn = 1; queue.length > 0; turn += 1) {
    queue.sort((a, b) => a.at - b.at || a.rank - b.rank || a.what - b.what);
    const next = queue.shift()!;
    now = next.at;
    seen.push([now, next.what]);
    perform(script[turn]);
  }
  return seen;
}

/** The same acts on the real one. */
function delivered(script: readonly (readonly Act[])[], options: KernelOptions = {}) {
  const tokens: number[] = [];
  const ranks: Rank[] = [];
  let turn = 0;
  const perform = (acts: readonly Act[] = []) => {
    for (const act of acts) {
      if (act.act === "schedule") {
        tokens.push(clerk.schedule(clerk.kernel.now + act.later, tokens.length, act.rank));
        ranks.push(act.rank);
      } else if (act.which < tokens.length) clerk.kernel.cancel(tokens[act.which]!);
    }
  };
  const clerk = new Clerk(options, () => {
    turn += 1;
    perform(script[turn]);
  });
  perform(script[0]);
  return { seen: clerk.run(), ranks };
}

describe("whatever is scheduled and taken back,", () => {
  test("the heap delivers what a sorted list would", () => {
    fc.assert(
      fc.property(someScript, (script) => {
        expect(delivered(script).seen).toEqual(modelled(script));
      }),
    );
  });

  test("many entries at once come out sorted, and stay so while the heap grows", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(500), { minLength: 200, maxLength: 1_500 }), (times) => {
        const clerk = new Clerk();
        for (const [what, at] of times.entries()) clerk.schedule(at, what);
        const sorted = times.map((at, what) => [at, what]).sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!);
        expect(clerk.run()).toEqual(sorted);
      }),
      { numRuns: 100 },
    );
  });

  test("shuffling permutes equals of one rank, and nothing else", () => {
    // Nothing is scheduled on delivery, so that the same entries are queued whatever the order.
    fc.assert(
      fc.property(someActs, fc.nat(), (acts, seed) => {
        const shuffle = { draws: keyed, key: keyed.seeded(seed) };
        const { seen, ranks } = delivered([acts], { shuffle });
        const places = (seen: readonly (readonly [number, number])[]) => seen.map(([at, what]) => [at, ranks[what]]);
        const plain = delivered([acts]).seen;
        expect(places(seen)).toEqual(places(plain));
        expect([...seen].sort(byWhat)).toEqual([...plain].sort(byWhat));
      }),
    );
  });

  test("shuffling does permute, the same way for the same key", () => {
    const order = (seed: number) => {
      const clerk = new Clerk({ shuffle: { draws: keyed, key: keyed.seeded(seed) } });
      for (let what = 0; what < 20; what += 1) clerk.schedule(1, what);
      return clerk.run().map(([, what]) => what);
    };
    expect(order(1)).toEqual(order(1));
    expect(order(1)).not.toEqual(order(2));
    expect([...order(1)].sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, what) => what));
  });
});

const byWhat = (a: readonly [number, number], b: readonly [number, number]) => a[1] - b[1];
