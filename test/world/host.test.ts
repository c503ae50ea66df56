import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Distribution, lognormalOfMean, sampler } from "../../src/distribution.ts";
import { keyed } from "../../src/random.ts";
import { Host, type HostTerms, type Pace, type Stretch } from "../../src/world/host.ts";
import { BrokenPromise } from "../../src/world/kernel.ts";

const NEVER = Number.POSITIVE_INFINITY;

const hostOf = (terms: Partial<HostTerms> = {}) => new Host({ speed: 1, cores: 1, ...terms });

const busy = (lasts: number, cpu = 1): Stretch => ({ cpu, lasts });
const silent = (lasts: number): Stretch => ({ cpu: 0, lasts });

/** How far each has come at a moment. */
const elapsed = (now: number, ...paces: readonly Pace[]) => paces.map((pace) => pace.elapsed(now));

/** Turns a host at each of its changes up to a moment, as a driver does; answers when that was. */
function driven(host: Host, until: number): number[] {
  const changes: number[] = [];
  while (host.nextChangeAt() <= until) {
    changes.push(host.nextChangeAt());
    host.turn(host.nextChangeAt());
  }
  host.turn(until);
  return changes;
}

describe("a script that has the host to itself", () => {
  test("keeps its own time", () => {
    const host = hostOf();
    const pace = host.starts(100, [busy(300), silent(200), busy(500)]);
    expect([100, 250, 400, 700, 1_100, 1_101, 9_999].map((now) => pace.elapsed(now))).toEqual([
      0, 150, 300, 600, 1_000, 1_000, 1_000,
    ]);
    expect([0, 1, 300, 999.5, 1_000, 1_001].map((script) => pace.when(script))).toEqual([
      100,
      101,
      400,
      1_100,
      1_100,
      NEVER,
    ]);
    expect(driven(host, 2_000)).toEqual([400, 600, 1_100]);
    expect(host.nextChangeAt()).toBe(NEVER);
    expect([100, 250, 400, 700, 1_100, 2_000].map((now) => pace.elapsed(now))).toEqual([
      0, 150, 300, 600, 1_000, 1_000,
    ]);
  });

  test("takes half as long at speed 2, silent or not, and ends in the millisecond in which its end falls", () => {
    for (const cores of [1, null]) {
      const pace = hostOf({ speed: 2, cores }).starts(10, [busy(100), silent(101)]);
      expect(elapsed(60, pace)).toEqual([100]);
      expect(elapsed(110, pace)).toEqual([200]);
      expect(elapsed(111, pace)).toEqual([201]);
      expect([pace.when(100), pace.when(101), pace.when(201)]).toEqual([60, 61, 111]);
    }
  });

  test("goes on for ever in a stretch that never ends", () => {
    for (const stretch of [busy(NEVER), silent(NEVER)]) {
      const host = hostOf();
      const pace = host.starts(0, [busy(10), stretch]);
      expect(driven(host, 1e9)).toEqual([10]);
      expect(pace.elapsed(1e9)).toBe(1e9);
      expect(pace.when(1e10)).toBe(1e10);
      expect(pace.when(NEVER)).toBe(NEVER);
    }
  });

  test("of no length is over as it starts", () => {
    for (const cores of [1, null]) {
      for (const stretches of [[], [busy(0), silent(0)]]) {
        const host = hostOf({ cores });
        const pace = host.starts(5, stretches);
        expect([pace.elapsed(5), pace.elapsed(9), pace.when(0), pace.when(1)]).toEqual([0, 0, 5, NEVER]);
        expect(host.nextChangeAt()).toBe(NEVER);
      }
    }
  });
});

describe("one core", () => {
  test("is shared by two that want it whole, and is one's again when the other has ended", () => {
    const host = hostOf();
    const short = host.starts(0, [busy(300)]);
    const long = host.starts(0, [busy(1_000)]);
    expect(elapsed(500, short, long)).toEqual([250, 250]);
    expect(host.nextChangeAt()).toBe(600);
    // As things stand: nobody knows yet that the short one will be over.
    expect([short.when(300), long.when(1_000)]).toEqual([600, 2_000]);
    host.turn(600);
    expect([short.when(300), long.when(1_000)]).toEqual([600, 1_300]);
    expect(driven(host, 5_000)).toEqual([1_300]);
    expect(elapsed(900, short, long)).toEqual([300, 600]);
    expect(elapsed(5_000, short, long)).toEqual([300, 1_000]);
  });

  test("slows down whoever is on it when another starts, from then on", () => {
    const host = hostOf();
    const first = host.starts(0, [busy(1_000)]);
    expect(first.when(1_000)).toBe(1_000);
    const second = host.starts(400, [busy(1_000)]);
    expect([first.when(200), first.when(400), first.when(401), first.when(1_000)]).toEqual([200, 400, 402, 1_600]);
    expect(second.when(1_000)).toBe(2_400);
    expect(driven(host, 3_000)).toEqual([1_600, 2_000]);
    expect(second.when(1_000)).toBe(2_000);
    expect(elapsed(1_000, first, second)).toEqual([700, 300]);
  });

  test("does not slow down what waits silently", () => {
    const host = hostOf();
    const waits = host.starts(0, [silent(1_000)]);
    const [one, other] = [host.starts(0, [busy(1_000)]), host.starts(0, [busy(1_000)])];
    expect(elapsed(500, waits, one, other)).toEqual([500, 250, 250]);
    expect([waits.when(1_000), one.when(1_000)]).toEqual([1_000, 2_000]);
  });

  test("is shared only while both are on it", () => {
    const host = hostOf();
    const mixed = host.starts(0, [busy(100), silent(400), busy(100)]);
    const steady = host.starts(0, [busy(1_000)]);
    // Both to 200; the steady one alone to 600; both to 800; alone again.
    expect(driven(host, 2_000)).toEqual([200, 600, 800, 1_200]);
    expect([100, 200, 400, 600, 700, 800].map((now) => elapsed(now, mixed, steady))).toEqual([
      [50, 50],
      [100, 100],
      [300, 300],
      [500, 500],
      [550, 550],
      [600, 600],
    ]);
    expect([mixed.when(600), steady.when(1_000)]).toEqual([800, 1_200]);
  });

  test("gives back the share of one that is stopped, which comes no further", () => {
    const host = hostOf();
    const [stopped, stays] = [host.starts(0, [busy(1_000)]), host.starts(0, [busy(1_000)])];
    host.ends(500, stopped);
    expect(elapsed(700, stopped, stays)).toEqual([250, 450]);
    expect([stopped.when(100), stopped.when(250), stopped.when(251)]).toEqual([200, 500, NEVER]);
    expect(stays.when(1_000)).toBe(1_250);
    expect(driven(host, 2_000)).toEqual([1_250]);
  });

  test("is no busier and no freer for the end of one that is over, or was ended before", () => {
    const host = hostOf();
    const paces = [100, 1_000, 1_000, 1_000].map((lasts) => host.starts(0, [busy(lasts)]));
    const [over, stopped] = paces as [Pace, Pace];
    // The first is over at 400. Its end may be told late, to a host that was not turned since.
    host.ends(410, over);
    host.ends(420, over);
    host.ends(700, stopped);
    host.ends(800, stopped);
    host.ends(800, over);
    expect(elapsed(700, ...paces)).toEqual([100, 200, 200, 200]);
    expect(elapsed(1_000, ...paces)).toEqual([100, 200, 350, 350]);
  });

  test("of three that end together lets none end a millisecond late for being thirds", () => {
    const host = hostOf();
    const three = [0, 0, 0].map(() => host.starts(7, [busy(1_000)]));
    expect(three.map((pace) => pace.when(1_000))).toEqual([3_007, 3_007, 3_007]);
    expect(three.map((pace) => pace.when(333))).toEqual([1_006, 1_006, 1_006]);
    expect(driven(host, 9_000)).toEqual([3_007]);
    expect(elapsed(3_007, ...three)).toEqual([1_000, 1_000, 1_000]);
  });

  test("loses nothing where a stretch ends between two milliseconds", () => {
    const host = hostOf();
    const quick = host.starts(0, [busy(1)]);
    const rest = [host.starts(0, [busy(100)]), host.starts(1, [busy(100)])];
    // Half of it is done by 1, and the other half by 2.5; from then on two share the core.
    expect(quick.when(1)).toBe(3);
    expect(host.nextChangeAt()).toBe(3);
    host.turn(3);
    expect(elapsed(3, quick, ...rest)).toEqual([1, 1.25, 0.75]);
    // The first of them ends at 200.5, and the other has the core for the half millisecond that it lacks.
    expect(host.nextChangeAt()).toBe(201);
    host.turn(201);
    expect(rest.map((pace) => pace.when(100))).toEqual([201, 201]);
    expect(elapsed(200, ...rest)).toEqual([99.75, 99.25]);
    expect(host.nextChangeAt()).toBe(NEVER);
  });
});

describe("several cores", () => {
  test("slow nobody down as long as there are enough", () => {
    const host = hostOf({ cores: 4 });
    const paces = [busy(100, 2), busy(100), busy(100, 0.5), busy(100, 0.5)].map((one) => host.starts(0, [one]));
    expect(elapsed(60, ...paces)).toEqual([60, 60, 60, 60]);
    expect(driven(host, 200)).toEqual([100]);
  });

  test("slow all down by the same factor where more are wanted, whatever each wants", () => {
    const host = hostOf({ cores: 4 });
    const paces = [busy(100, 6), busy(100), busy(100, 0.5), busy(100, 0.5)].map((one) => host.starts(0, [one]));
    expect(elapsed(60, ...paces)).toEqual([30, 30, 30, 30]);
    expect(driven(host, 400)).toEqual([200]);
  });

  test("that do not suffice for one slow it down alone, at any speed", () => {
    const host = hostOf({ cores: 1.5, speed: 2 });
    expect(host.starts(0, [busy(100, 3)]).when(100)).toBe(100);
  });

  test("without number slow nobody down, and nobody has to be told of a change", () => {
    const host = hostOf({ cores: null });
    const paces = Array.from({ length: 100 }, () => host.starts(10, [busy(100, 64), silent(100), busy(100)]));
    expect(new Set(elapsed(160, ...paces))).toEqual(new Set([150]));
    expect(paces[0]!.when(300)).toBe(310);
    expect(host.nextChangeAt()).toBe(NEVER);
    host.ends(60, paces[0]!);
    host.ends(70, paces[0]!);
    expect(elapsed(160, paces[0]!, paces[1]!)).toEqual([50, 150]);
    expect([paces[0]!.when(50), paces[0]!.when(51)]).toEqual([60, NEVER]);
  });
});

test("a host is not turned back in time, nor to the end of time", () => {
  const host = hostOf();
  expect(() => host.turn(host.nextChangeAt())).toThrow(BrokenPromise);
  host.turn(10);
  expect(() => host.turn(9)).toThrow(BrokenPromise);
  expect(() => host.starts(9, [busy(1)])).toThrow(BrokenPromise);
  expect(() => host.ends(9, hostOf().starts(0, [busy(1)]))).toThrow(BrokenPromise);
});

test("a host has nothing left of the demand of thousands once they are over", () => {
  const host = hostOf({ cores: 3 });
  for (let n = 0; n < 5_000; n++) host.starts(n, [busy(1 + (n % 7), 0.1 * (1 + (n % 9)))]);
  driven(host, 1_000_000);
  const pace = host.starts(1_000_000, [busy(12_345, 3)]);
  expect(pace.when(12_345)).toBe(1_012_345);
  expect(pace.elapsed(1_005_000)).toBe(5_000);
});

interface Job {
  readonly at: number;
  readonly stretches: readonly Stretch[];
  /** When it is stopped; null: it is left alone. */
  readonly stop: number | null;
}

const someLength = fc.oneof(fc.constantFrom(0, 1, 10, 100), fc.integer({ min: 1, max: 200 }));

const someJobs: fc.Arbitrary<readonly Job[]> = fc
  .array(
    fc.record({
      at: fc.oneof(fc.constantFrom(0, 100), fc.nat(300)),
      stretches: fc
        .tuple(
          fc.array(fc.record({ cpu: fc.constantFrom(0, 0.3, 1, 1, 2.5), lasts: someLength }), { maxLength: 4 }),
          fc.boolean(),
        )
        .map(([some, endless]) => (endless ? [...some, busy(NEVER)] : some)),
      stop: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(200) }),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((jobs) =>
    jobs.map((job) => ({ ...job, stop: job.stop === null ? null : job.at + job.stop })).sort((a, b) => a.at - b.at),
  );

const someTerms: fc.Arbitrary<HostTerms> = fc.record({
  speed: fc.constantFrom(0.7, 1, 1, 2, 3),
  cores: fc.constantFrom(0.5, 1, 1, 2, 3),
});

const LAST = 1_200;

interface Played {
  readonly paces: readonly Pace[];
  /** What was said of each of them at each millisecond. */
  readonly said: readonly (readonly number[])[];
}

/** Everything as a driver would do it, millisecond by millisecond. */
function played(
  terms: HostTerms,
  jobs: readonly Job[],
  look: (now: number, paces: readonly Pace[]) => void = () => {},
): Played {
  const host = new Host(terms);
  const paces: Pace[] = [];
  const said: number[][] = [];
  for (let now = 0; now <= LAST; now++) {
    if (host.nextChangeAt() < now) throw new Error("a change was passed over");
    while (host.nextChangeAt() === now) host.turn(now);
    while (paces.length < jobs.length && jobs[paces.length]!.at === now) {
      paces.push(host.starts(now, jobs[paces.length]!.stretches));
    }
    jobs.forEach((job, n) => {
      if (job.stop === now) host.ends(now, paces[n]!);
    });
    look(now, paces);
    said.push(paces.map((pace) => pace.elapsed(now)));
  }
  return { paces, said };
}

const lengthOf = ({ stretches }: Job) => stretches.reduce((sum, { lasts }) => sum + lasts, 0);

/** Cores times milliseconds that a script has used when it has come so far. */
function workOf({ stretches }: Job, script: number): number {
  let [from, work] = [0, 0];
  for (const { cpu, lasts } of stretches) {
    work += cpu * Math.min(Math.max(script - from, 0), lasts);
    from += lasts;
  }
  return work;
}

/**
 * The same by small steps: everything goes on at its rate until the first stretch ends, or the millisecond. It knows
 * no legs and keeps no totals.
 */
function naive({ speed, cores }: HostTerms, jobs: readonly Job[]): number[][] {
  const scripts = jobs.map(({ at, stop, stretches }) => ({
    at,
    stop: stop ?? NEVER,
    left: stretches.map((stretch) => ({ ...stretch })),
    come: 0,
  }));
  const said: number[][] = [];
  for (let now = 0; now <= LAST; now++) {
    said.push(scripts.filter(({ at }) => at <= now).map(({ come }) => come));
    for (let rest = 1; rest > 0; ) {
      const running = scripts.filter(({ at, stop, left }) => at <= now && now < stop && left.length > 0);
      const demand = running.reduce((sum, { left }) => sum + left[0]!.cpu, 0);
      const rateOf = (cpu: number) => (cpu > 0 && demand > cores! ? (speed * cores!) / demand : speed);
      const step = Math.min(rest, ...running.map(({ left: [first] }) => first!.lasts / rateOf(first!.cpu)));
      for (const script of running) {
        const first = script.left[0]!;
        const done = rateOf(first.cpu) * step;
        script.come += done;
        first.lasts -= done;
        if (first.lasts < 1e-9) script.left.shift();
      }
      rest = rest - step < 1e-9 ? 0 : rest - step;
    }
  }
  return said;
}

/** Each law looks at every millisecond of an example, so fewer examples do. */
const some = { numRuns: 100 };

describe("whatever runs on it, a host", () => {
  test("lets each come as far as it does step by step", () => {
    fc.assert(
      fc.property(someTerms, someJobs, (terms, jobs) => {
        const stepwise = naive(terms, jobs);
        played(terms, jobs).said.forEach((said, now) => {
          expect(said.length).toBe(stepwise[now]!.length);
          said.forEach((script, n) => {
            if (Math.abs(script - stepwise[now]![n]!) > 1e-5) expect([now, n, script]).toEqual(stepwise[now]![n]!);
          });
        });
      }),
      some,
    );
  });

  test("never does more work in a millisecond than it has cores", () => {
    fc.assert(
      fc.property(someTerms, someJobs, (terms, jobs) => {
        const { said } = played(terms, jobs);
        const worked = said.map((scripts) => scripts.reduce((sum, script, n) => sum + workOf(jobs[n]!, script), 0));
        const most = worked.reduce((most, work, now) => Math.max(most, work - (worked[now - 1] ?? 0)), 0);
        expect(most).toBeLessThan(terms.cores! * terms.speed + 1e-4);
      }),
      some,
    );
  });

  test("says the same of a moment for ever, and never that a script came back or went beyond its end", () => {
    fc.assert(
      fc.property(someTerms, someJobs, (terms, jobs) => {
        const { paces, said } = played(terms, jobs);
        paces.forEach((pace, n) => {
          const length = lengthOf(jobs[n]!);
          const before = said.flatMap((scripts) => scripts[n] ?? []);
          expect(before.map((_, now) => pace.elapsed(jobs[n]!.at + now))).toEqual(before);
          expect(before).toEqual(before.toSorted((a, b) => a - b));
          expect(before[0]).toBe(0);
          expect(before.at(-1)).toBeLessThanOrEqual(length);
        });
      }),
      some,
    );
  });

  test("names the first millisecond in which a script has come so far", () => {
    fc.assert(
      fc.property(someTerms, someJobs, (terms, jobs) => {
        const check = (pace: Pace, script: number, now: number) => {
          const when = pace.when(script);
          if (when === NEVER || (when <= now && pace.elapsed(when) >= script && pace.elapsed(when - 1) < script))
            return;
          expect(when).toBe(`the first millisecond of ${script}, by ${now}`);
        };
        const { paces } = played(terms, jobs, (now, paces) => {
          for (const pace of paces) if (pace.elapsed(now) > 0) check(pace, pace.elapsed(now), now);
        });
        paces.forEach((pace, n) => {
          const come = pace.elapsed(LAST);
          for (let script = 1; script <= come; script++) check(pace, script, LAST);
          expect(pace.when(0)).toBe(jobs[n]!.at);
          expect(pace.when(come)).toBeLessThanOrEqual(LAST);
          expect(pace.when(lengthOf(jobs[n]!) + 1)).toBe(NEVER);
        });
      }),
      some,
    );
  });

  test("does the same in whatever order things start that start at one moment", () => {
    fc.assert(
      fc.property(someTerms, someJobs, (terms, jobs) => {
        const order = jobs.map((_, n) => n).sort((a, b) => jobs[a]!.at - jobs[b]!.at || b - a);
        const { said } = played(terms, jobs);
        const other = played(
          terms,
          order.map((n) => jobs[n]!),
        ).said;
        expect(other).toEqual(said.map((scripts) => scripts.map((_, n) => scripts[order[n]!])));
      }),
      some,
    );
  });

  test("takes in each change at its own moment, however late it is turned", () => {
    fc.assert(
      fc.property(someTerms, someJobs, (terms, jobs) => {
        const alone = jobs.map((job) => ({ ...job, stop: null }));
        const { said } = played(terms, alone);
        const host = new Host(terms);
        const paces = alone.map(({ at, stretches }) => host.starts(at, stretches));
        host.turn(LAST);
        expect(said.map((scripts, now) => elapsed(now, ...paces.slice(0, scripts.length)))).toEqual(said);
      }),
      some,
    );
  });
});

/** Poisson arrivals at one core: the size of each job and how long it stayed, in milliseconds. */
function sojourns(sizes: Distribution, meanSeconds: number, utilisation: number, n: number) {
  const host = hostOf();
  const size = sampler(sizes);
  const [arrivals, lengths] = ["arrivals", "sizes"].map((name) => keyed.within(keyed.seeded(1), name));
  const stayed: { size: number; stayed: number }[] = [];
  let here: { pace: Pace; size: number; came: number }[] = [];
  const drive = (until: number) => {
    while (host.nextChangeAt() <= until) {
      const now = host.nextChangeAt();
      host.turn(now);
      here = here.filter(({ pace, size, came }) => {
        if (pace.elapsed(now) < size) return true;
        stayed.push({ size, stayed: now - came });
        return false;
      });
    }
  };
  let clock = 0;
  for (let i = 0; i < n; i++) {
    clock -= ((meanSeconds * 1_000) / utilisation) * Math.log1p(-keyed.uniform(arrivals!, i));
    const came = Math.round(clock);
    drive(came);
    const length = Math.max(Math.round(size(keyed.uniform(lengths!, i)) * 1_000), 1);
    here.push({ pace: host.starts(came, [busy(length)]), size: length, came });
  }
  drive(Number.MAX_SAFE_INTEGER);
  return stayed;
}

/** Kleinrock, *Queueing Systems* II (1976), section 4.4: a job of size x stays x/(1 − ρ), whatever sizes others have. */
describe("the mean stay of Poisson arrivals at one core used to 0.6", () => {
  // The standard error of such a mean stay is about 0.6 %.
  const n = 300_000;
  const slowdown = 1 / (1 - 0.6);
  const deviation = (figure: number, expected: number) => Math.abs(figure / expected - 1);

  const ofMean10: readonly { readonly sizes: string; readonly distribution: Distribution }[] = [
    { sizes: "exponential", distribution: { distribution: "exponential", mean: 10 } },
    {
      sizes: "either of two",
      distribution: {
        distribution: "choice",
        choices: [
          { value: 5, p: 0.8 },
          { value: 30, p: 0.2 },
        ],
      },
    },
    { sizes: "log-normal", distribution: lognormalOfMean(10, 1) },
  ];

  test.each(ofMean10)(
    "is 2.5 times their mean size where sizes are $sizes, and that of each size as well",
    ({ distribution }) => {
      const all = sojourns(distribution, 10, 0.6, n);
      expect(all.length).toBe(n);
      const means = (jobs: typeof all) => ({
        size: jobs.reduce((sum, { size }) => sum + size, 0) / jobs.length,
        stay: jobs.reduce((sum, { stayed }) => sum + stayed, 0) / jobs.length,
      });
      expect(deviation(means(all).stay, slowdown * 10_000)).toBeLessThan(0.03);
      const edges = [0, 2.5, 5.1, 10, 20, NEVER];
      const classes = edges
        .slice(1)
        .map((to, n) => all.filter(({ size }) => size >= edges[n]! * 1_000 && size < to * 1_000));
      for (const jobs of classes.filter(({ length }) => length > 0)) {
        const { size, stay } = means(jobs);
        expect(deviation(stay, slowdown * size)).toBeLessThan(0.03);
      }
    },
  );
});
