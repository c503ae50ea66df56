/** What an observer sees of each trial of a case: its first replicate, scenario by scenario and arm by arm. */
import type { TrialEvent } from "../../src/agent/events.ts";
import { conductWorld, type FinishedTrial } from "../../src/experiment/conduct.ts";
import { scheduled } from "../../src/experiment/schedule.ts";
import { keyed } from "../../src/random.ts";
import { loadPanel } from "../../src/scenario/load.ts";

export interface Observed {
  readonly arm: string;
  readonly scenario: string;
  /** Seconds from the command's start to each moment at which control came back from it while it ran, or with its end. */
  readonly control: readonly number[];
  readonly execs: readonly {
    readonly status: string;
    readonly exitCode: number | null;
    readonly seconds: number | null;
  }[];
  /** Processes that a limit, or a stop, has ended: which, and how many seconds after its start. */
  readonly killed: readonly Ended[];
  readonly stopped: readonly Ended[];
  /** Exit codes of the ends that waits have brought. */
  readonly ends: readonly (number | null)[];
  readonly waits: number;
  readonly turns: number;
  readonly inputTokens: number;
  readonly cacheWriteTokens: number;
  readonly cost: number;
  /** Requests whose prefix had been in the cache, and was or was not any more. */
  readonly hits: number;
  readonly misses: number;
  readonly probes: number;
  /** How often the condition was looked at in each call that waited for one. */
  readonly conditionProbes: readonly number[];
  /** When the model was told what, in seconds: a hint by what it points out. */
  readonly told: readonly (readonly [number, string])[];
  readonly messageBytes: number;
  /** When a message, or something from outside, began another turn. */
  readonly woken: readonly number[];
  /** When a message failed to. */
  readonly undelivered: readonly number[];
  readonly status: readonly number[];
  /** Processes alive at the end, and whether any of them still serves. */
  readonly left: number;
  readonly serves: boolean;
  /** What it was told of an end, and at which seconds; and what its jobs came to. */
  readonly toldOfEnds: readonly (readonly [kind: string, at: number])[];
  readonly jobs: readonly (readonly [result: string, at: number])[];
  readonly committedAt: readonly number[];
  /** At which seconds the runtime has ended a process of its own accord. */
  readonly swept: readonly number[];
  /** Processes that had outlived the command that started them. */
  readonly survivors: number;
  readonly outputLost: number;
  readonly outerTimeout: boolean;
  readonly finalized: boolean;
  readonly reward: number;
  readonly seconds: number;
  readonly longestGap: number;
}

interface Ended {
  readonly process: number;
  readonly after: number;
}

export function observed(panelName: string, replicate = 1): readonly Observed[] {
  const panel = loadPanel(`panels/cases/${panelName}.yaml`);
  const found: Observed[] = [];
  conductWorld(panel, scheduled(panel, keyed), replicate, (trial) => found.push(seen(trial)));
  return found;
}

export function the(all: readonly Observed[], arm: string, scenario = ""): Observed {
  const [only, ...more] = all.filter((each) => each.arm === arm && each.scenario.includes(scenario));
  if (only === undefined || more.length > 0)
    throw new Error(`${arm} ${scenario}: ${more.length + (only ? 1 : 0)} trials`);
  return only;
}

type Of<Name extends TrialEvent["event"]> = Extract<TrialEvent, { event: Name }>;

function seen({ arm, task, events, grade, startedAt, endedAt }: FinishedTrial): Observed {
  const of = <Name extends TrialEvent["event"]>(name: Name) =>
    events.filter((event): event is Of<Name> => event.event === name);
  const returned = of("control_returned");
  const called = of("exec_called");
  const asked = of("model_asked");
  const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);
  const calls = [...called, ...of("process_called")];
  return {
    arm: arm.arm,
    scenario: task.scenario,
    control: returned
      .filter(({ tool, process }) => (tool === "exec" || tool === "wait") && process === 1)
      .map(({ at, startedAt: began }) => (at - began!) / 1_000),
    execs: called.map(({ call, at }) => {
      const back = returned.find((event) => event.call === call);
      return {
        status: back?.status ?? "cut_off",
        exitCode: back?.end?.code ?? null,
        seconds: back === undefined ? null : (back.at - at) / 1_000,
      };
    }),
    killed: endedBy(returned, "limit"),
    stopped: endedBy(returned, "stop"),
    ends: returned.flatMap(({ tool, end }) => (tool === "wait" && end !== null ? [end.code] : [])),
    waits: of("process_called").filter(({ action }) => action === "wait").length,
    turns:
      asked.length > 0
        ? asked.length
        : calls.length + of("probed").length + of("committed").length + of("submitted").length,
    inputTokens: sum(asked.map(({ prompt }) => prompt)),
    cacheWriteTokens: sum(asked.map(({ cacheWrite }) => cacheWrite)),
    cost: sum(asked.map(({ cost }) => cost)) / 1e6,
    hits: asked.filter(({ hit }) => hit === true).length,
    misses: asked.filter(({ hit }) => hit === false).length,
    probes: of("probed").length,
    conditionProbes: of("condition_watched").map(({ probes }) => probes),
    told: of("told").map(({ at, kind, hint }) => [at / 1_000, hint ?? kind] as const),
    messageBytes: sum(of("told").map(({ bytes }) => bytes)),
    woken: of("woken").map(({ at }) => at / 1_000),
    undelivered: of("delivery_failed").map(({ at }) => at / 1_000),
    status: of("process_called").flatMap(({ action, at }) => (action === "status" ? [at / 1_000] : [])),
    left: of("left_behind").filter(({ end }) => end === null).length,
    serves: of("left_behind").some(({ answers }) => answers),
    toldOfEnds: of("told")
      .filter(({ kind }) => kind === "deadline_notice" || kind === "wrap_up")
      .map(({ kind, at }) => [kind, at / 1_000]),
    jobs: of("job_ended").map(({ result, at }) => [result, at / 1_000]),
    committedAt: of("committed").map(({ at }) => at / 1_000),
    swept: of("swept").map(({ at }) => at / 1_000),
    survivors: sum(returned.filter(({ tool }) => tool === "exec").map(({ end }) => end?.survivors ?? 0)),
    outputLost: sum(returned.map(({ outputLost }) => outputLost)),
    outerTimeout: of("cut_off").length > 0,
    finalized: of("submitted").length > 0,
    reward: grade!.reward,
    seconds: (endedAt - startedAt) / 1_000,
    longestGap: Math.max(
      0,
      ...calls.map(
        ({ call, at }) => ((returned.find((event) => event.call === call)?.at ?? endedAt - startedAt) - at) / 1_000,
      ),
    ),
  };
}

function endedBy(returned: readonly Of<"control_returned">[], by: "limit" | "stop"): readonly Ended[] {
  return returned.flatMap(({ process, startedAt, end }) =>
    end?.by === by ? [{ process: process!, after: (end.at - startedAt!) / 1_000 }] : [],
  );
}
