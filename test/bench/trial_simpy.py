"""The headline panel's trial in SimPy: the same rules, the same three arms, nothing recorded.

Prints one JSON object: trials, seconds, library. SimPy 3 (Debian: python3-simpy3) where it is there, else SimPy 2
(Debian: python3-simpy). Draws come from Python's own generator: the same distributions, not the same numbers.
"""
import json
import math
import random
import sys
import time

OUTER, RESERVE, STEP = 5400.0, 600.0, 12.0
ARMS = (
    dict(cap=0, slice=None, told=False, long=False),
    dict(cap=240, slice=None, told=False, long=True),
    dict(cap=240, slice=240, told=True, long=True),
)


def task(rng):
    n = poisson(rng, rng.gammavariate(1.7, 28.7 / 1.7))
    thinking = rng.lognormvariate(math.log(1000) - 0.55**2 / 2, 0.55)
    commands = [None if rng.random() < 0.004 else rng.lognormvariate(-0.163, 2.2) for _ in range(n)]
    return thinking / (n + 1), commands


def poisson(rng, mean):
    limit, k, p = math.exp(-mean), 0, rng.random()
    while p > limit:
        k += 1
        p *= rng.random()
    return k


def asked(rng, arm, waits):
    if not arm["long"]:
        return 120.0
    return 3600.0 if rng.random() < (0.6 if waits == 0 else 0.9) else 240.0


def gives_up(arm, quiet, running):
    return quiet >= 2 if not arm["long"] else quiet >= 4 or (quiet >= 1 and running > 1200)


def with_simpy3(simpy, trials):
    def trial(env, arm, rng):
        begin = env.now
        reserve = begin + OUTER - RESERVE if arm["told"] else math.inf
        gap, commands = task(rng)
        try:
            for duration in commands:
                yield env.timeout(gap)
                start = env.now
                end = env.timeout(duration) if duration is not None else env.event()
                yield end | env.timeout(10)
                if end.processed:
                    continue
                cap = min(start + arm["cap"], reserve)
                if cap > env.now:
                    yield end | env.timeout(cap - env.now)
                    if end.processed:
                        continue
                waits = quiet = 0
                while True:
                    yield env.timeout(STEP)
                    if gives_up(arm, quiet, env.now - start) or env.now >= reserve:
                        break
                    until = min(env.now + asked(rng, arm, waits), reserve)
                    if arm["slice"]:
                        until = min(until, env.now + arm["slice"])
                    waits += 1
                    if not end.processed:
                        yield end | env.timeout(max(until - env.now, 0))
                    if end.processed:
                        break
                    quiet += 1
            yield env.timeout(gap)
        except simpy.Interrupt:
            pass

    def harness(env, arm, rng):
        process = env.process(trial(env, arm, rng))
        yield process | env.timeout(OUTER)
        if process.is_alive:
            process.interrupt()

    def lane(env, arm, rng, each):
        slots = simpy.Resource(env, capacity=8)

        def entrant():
            with slots.request() as slot:
                yield slot
                yield env.process(harness(env, arm, rng))

        for _ in range(each):
            env.process(entrant())

    worlds, each = max(trials // (113 * 3), 1), 113
    for world in range(worlds):
        env = simpy.Environment()
        for index, arm in enumerate(ARMS):
            lane(env, arm, random.Random(world * 3 + index), each)
        env.run()
    return worlds * each * 3


def with_simpy2(simulation, trials):
    class Ends(simulation.Process):
        def live(self, delay, event):
            yield simulation.hold, self, delay
            event.signal()

    class Trial(simulation.Process):
        def until(self, event, delay):
            timer = simulation.SimEvent(sim=self.sim)
            watch = Ends(sim=self.sim)
            self.sim.activate(watch, watch.live(delay, timer))
            return simulation.waitevent, self, (event, timer)

        def live(self, arm, rng):
            reserve = OUTER - RESERVE if arm["told"] else math.inf
            gap, commands = task(rng)
            begin = self.sim.now()
            for duration in commands:
                yield simulation.hold, self, gap
                start = self.sim.now()
                end = simulation.SimEvent(sim=self.sim)
                over = start + duration if duration is not None else math.inf
                if duration is not None:
                    watch = Ends(sim=self.sim)
                    self.sim.activate(watch, watch.live(duration, end))
                yield self.until(end, 10)
                if self.sim.now() >= over:
                    continue
                cap = min(start + arm["cap"], begin + reserve)
                if cap > self.sim.now():
                    yield self.until(end, cap - self.sim.now())
                    if self.sim.now() >= over:
                        continue
                waits = quiet = 0
                while self.sim.now() - begin < OUTER:
                    yield simulation.hold, self, STEP
                    now = self.sim.now()
                    if gives_up(arm, quiet, now - start) or now - begin >= reserve or now >= over:
                        break
                    until = min(now + asked(rng, arm, waits), begin + reserve, begin + OUTER)
                    if arm["slice"]:
                        until = min(until, now + arm["slice"])
                    waits += 1
                    yield self.until(end, max(until - now, 0.001))
                    if self.sim.now() >= over:
                        break
                    quiet += 1
                if self.sim.now() - begin >= OUTER:
                    return
            yield simulation.hold, self, gap

    done = 0
    for world in range(max(trials // 3, 1)):
        for index, arm in enumerate(ARMS):
            sim = simulation.Simulation()
            process = Trial(sim=sim)
            sim.activate(process, process.live(arm, random.Random(world * 3 + index)))
            sim.simulate(until=OUTER * 4)
            done += 1
    return done


def main():
    trials = int(sys.argv[1])
    try:
        import simpy

        library, run = "SimPy " + simpy.__version__, lambda: with_simpy3(simpy, trials)
    except ImportError:
        import SimPy
        import SimPy.Simulation as simulation

        library, run = "SimPy " + SimPy.__version__, lambda: with_simpy2(simulation, trials)
    started = time.process_time()
    done = run()
    print(json.dumps(dict(trials=done, seconds=time.process_time() - started, library=library)))


main()
