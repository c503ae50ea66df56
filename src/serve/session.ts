/**
 * A served session: one shell with its table of processes, and a run of its own for each call.
 *
 * Calls may run side by side, as a client makes them. All are answered by one shell and write into one list of events,
 * so a session is a trial like any other, and its rows are the same fold over it.
 */

import { Deadlines } from "../agent/deadlines.ts";
import type { Agent, Command, ProcessId } from "../agent/effects.ts";
import type { ProcessCall, TrialEvent } from "../agent/events.ts";
import { Messages, type NoticeOnResult, onResult } from "../agent/messages.ts";
import { type Refused, type Returned, Shell } from "../agent/shell.ts";
import { type RunBudget, reserveBegins } from "../policy/budget.ts";
import { runDeadlines } from "../policy/deadline.ts";
import { tellsOfProcesses } from "../policy/notice.ts";
import type { Settings } from "../policy/settings.ts";
import { after, beginning, type Duration, type Instant, never } from "../policy/time.ts";
import { type Clock, type LiveRun, LiveWorld, type ProcessPort } from "../world/live.ts";
import type { WatchedProcess } from "../world/watched.ts";

export interface SessionOptions {
  readonly clock: Clock;
  readonly port: ProcessPort;
  readonly settings: Settings;
  /** Null: not told. */
  readonly budget: RunBudget | null;
  /** A command line as the port runs it. @param cwd as the model named it; null if it named none */
  readonly commandOf: (line: string, cwd: string | null) => Command;
  /** What an earlier runtime in the same place left behind, and what can still be read of it. */
  readonly lost?: readonly LostProcess[];
}

export interface LostProcess {
  readonly id: ProcessId;
  readonly command: Command;
  readonly process: WatchedProcess;
}

/** What a call came to, and what its client is told beside. */
export type Answered<Result> = Returned<Result> & { readonly notices?: readonly NoticeOnResult[] };

export class Session {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly budget: RunBudget | null;
  readonly commandOf: SessionOptions["commandOf"];
  /** Everything that has happened. Nothing is added once the session has ended. */
  readonly events: TrialEvent[] = [];
  readonly #shell: Shell;
  /** What a result tells beside what was asked; null where nothing ever is. */
  readonly #messages: Messages | null;
  readonly #world: LiveWorld;
  readonly #deadlines: Deadlines;
  readonly #runs = new Set<Pick<LiveRun<never>, "cancel">>();
  #endedAt: Instant | null = null;

  constructor({ clock, port, settings, budget, commandOf, lost = [] }: SessionOptions) {
    this.clock = clock;
    this.settings = settings;
    this.budget = budget;
    this.commandOf = commandOf;
    this.#world = new LiveWorld(clock, port);
    this.#shell = new Shell({ settings, budget, cadence: null, record: (event) => this.#record(event) });
    const end = budget === null ? never : budget.deadline;
    this.#deadlines = new Deadlines(runDeadlines(settings, budget), end, (event) => this.#record(event));
    this.#messages = tellsOfProcesses(settings) ? new Messages(settings, (event) => this.#record(event)) : null;
    for (const { id, command, process } of lost) {
      this.#shell.adopt(id, command);
      this.#world.adopt(id, process);
    }
    this.#record({
      event: "trial_began",
      at: beginning,
      budget,
      outerLimit: budget === null ? (never as number as Duration) : budget.length,
      reserveBegins: budget === null ? never : reserveBegins(budget),
    });
  }

  get isOver(): boolean {
    return this.#endedAt !== null;
  }

  /**
   * Makes one call. It has begun once this returns.
   *
   * @param isGone whether nobody waits for its result any more: then it tells of nothing else
   */
  call<Result>(
    make: (shell: Shell, now: Instant) => Agent<Returned<Result>>,
    isGone: () => boolean = () => false,
  ): LiveRun<Answered<Result>> {
    const agent = make(this.#shell, this.clock.now());
    const tells = this.#messages !== null || this.#deadlines.nextAt !== never;
    return this.#begins(tells ? this.#telling(agent, isGone) : agent);
  }

  #begins<Result>(agent: Agent<Result>): LiveRun<Result> {
    const run = this.#world.run(agent);
    this.#runs.add(run);
    const over = () => void this.#runs.delete(run);
    run.done.then(over, over);
    return run;
  }

  /** A result, and whatever is to be told with it. */
  *#telling<Result>(call: Agent<Returned<Result>>, isGone: () => boolean): Agent<Answered<Result>> {
    const returned = yield* call;
    if ("refused" in returned || isGone()) return returned;
    const { process, at } = returned;
    const messages = this.#messages;
    if (process !== null) messages?.hears(this.#shell.managed(process));
    const told = messages?.mayTell ? yield* messages.beforeStep(at) : [];
    const ends = this.#deadlines.take(at).map(({ kind, text }): NoticeOnResult => ({ kind, text, process_ids: [] }));
    const notices = [...ends, ...told.map(onResult)];
    return notices.length === 0 ? returned : { ...returned, notices };
  }

  /** Writes down a call that could not be made. */
  turnDown(asked: Command | ProcessCall | null, why: string): Refused {
    return this.#shell.turnDown(asked, why, this.clock.now());
  }

  /** The client is done, but the run is not: it is held open for what it still runs, as far as the policy has it so. */
  async leave(): Promise<void> {
    if (this.settings.exitWaitsForJobs) await this.#begins(this.#shell.holdOpen(this.clock.now())).done;
  }

  /** What outlives the session. */
  kept(): ReadonlySet<ProcessId> {
    return new Set(this.#shell.kept());
  }

  /**
   * The client has gone. Calls that are still held end here, whoever may still hear of them; processes are left as they are.
   * A session that lasts to the end of its run was cut off by whoever had set that end.
   */
  end(): Instant {
    if (this.#endedAt !== null) return this.#endedAt;
    const at = this.clock.now();
    const cutOff = this.budget !== null && at >= after(beginning, this.budget.length);
    this.#record({ event: cutOff ? "cut_off" : "session_ended", at });
    for (const left of this.#world.unreported(at)) this.#record({ event: "left_behind", at, ...left });
    this.#endedAt = at;
    for (const run of this.#runs) run.cancel();
    return at;
  }

  #record(event: TrialEvent): void {
    if (this.#endedAt === null) this.events.push(event);
  }
}
