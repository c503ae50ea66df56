/** A trial's events as lines that a person can read: `480.000  held     process-1  until 720.000`. */
import { type Instant, inSeconds, never } from "../policy/time.ts";
import type { ProcessId } from "./effects.ts";
import type { TrialEvent } from "./events.ts";
import { processName, statusAfter } from "./processes.ts";

/** One line without its moment; null for what a reader of a journal does not miss. */
export function journalLine(event: TrialEvent): string | null {
  switch (event.event) {
    case "trial_began":
      return null;
    case "exec_called": {
      const how = [
        event.background ? "in the background" : "",
        event.attempt === 0 ? "" : "again",
        event.timeout === null ? "" : `hard timeout ${paper(event.timeout)} s`,
        event.commandClass === undefined ? "" : `class ${event.commandClass}`,
        ...event.timeoutClampReasons,
      ].filter((part) => part !== "");
      return line("exec", event.process, [printable(event.command.line), ...how].join("  "));
    }
    case "auto_await_granted":
    case "wait_granted":
      if (event.until === event.at && event.clampReasons.length === 0) return null;
      return line(
        "held",
        event.process,
        [`until ${moment(event.until)}`, ...event.clampReasons, ...risksOf(event)].join("  "),
      );
    case "process_called": {
      const { action, process, requested, raised, defaulted } = event;
      // A stop is told by what came of it.
      if (action === "stop") return null;
      if (requested === null) return line(action === "read_output" ? "read" : action, process, "");
      if (action === "wait_for_condition") return line("wait", process, `${paper(requested)} s for a condition`);
      const how = defaulted ? " by default" : raised ? " asked, raised to the floor" : " asked";
      return line("wait", process, `${paper(requested)} s${how}`);
    }
    case "control_returned": {
      if (event.status === null) return line("control", event.process, "");
      if (event.tool === "stop")
        return line("stopped", event.process, event.status === "terminated" ? "" : event.status);
      const signal = event.end?.signal;
      const how = event.end === null ? "" : signal == null ? `exit ${event.end.code}` : signal;
      const silent = event.end?.silent === undefined ? "" : "silent for too long";
      const told = event.guided ? "told to finish" : "";
      return line("control", event.process, [event.status, how, silent, told].filter((part) => part !== "").join("  "));
    }
    case "call_refused":
      return line("refused", null, printable(event.why));
    case "condition_watched": {
      const times = event.probes === 1 ? "once" : `${event.probes} times`;
      return line("looked", null, `${times}  ${event.outcome.replaceAll("_", " ")}`);
    }
    case "probed":
      return line("probed", null, `port ${event.port}  ${event.answers ? "answers" : "no answer"}`);
    case "model_asked":
      return event.purpose === "compaction" ? line("compact", null, `${event.prompt} tokens`) : null;
    case "model_answered": {
      const retries = event.service?.retries ?? 0;
      return retries === 0 ? null : line("retried", null, `${retries} times`);
    }
    case "told": {
      const tries = event.attempts === 1 ? "" : `after ${event.attempts} tries`;
      return line(
        "told",
        null,
        [event.hint ?? event.kind, named(event), tries].filter((part) => part !== "").join("  "),
      );
    }
    case "delivery_failed":
      return line(
        "untold",
        null,
        `${event.kind}  ${named(event)}  ${event.again === null ? "given up" : `again at ${moment(event.again)}`}`,
      );
    case "turn_ended":
      return line("idle", null, "");
    case "woken":
      return line("woken", null, event.by);
    case "forgot":
      return line("forgot", event.process, "");
    case "job_began":
      return line("job", null, printable(event.job));
    case "job_ended":
      return line("job end", null, `${printable(event.job)}  ${event.result}`);
    case "happened":
      return line("outside", null, event.what);
    case "exit_held":
      return line("held", null, `open until ${moment(event.until)}`);
    case "exit_awaited":
      return line("awaited", event.process, event.end === null ? "still running" : statusAfter(event.end));
    case "swept":
      return line("swept", event.process, event.end === null ? "still running" : "");
    case "pruned":
      return line("pruned", event.process, "");
    case "limit_reached":
      return line("cut off", null, `${event.limit} limit`);
    case "provider_failed":
      return line("failed", null, "the provider gave no answer");
    case "committed":
      return "committed";
    case "submitted":
      return event.partial ? "finished  in part" : "finished";
    case "gave_up":
      return "gave up";
    case "cut_off":
      return "cut off";
    case "session_ended":
      return "ended";
    case "left_behind":
      return event.end === null ? line("left", event.process, event.answers ? "still serving" : "still running") : null;
  }
}

/** The whole journal, one line per event that has one. */
export function journal(events: readonly TrialEvent[]): string[] {
  const lines: string[] = [];
  for (const event of events) {
    const said = journalLine(event);
    if (said !== null) lines.push(`${inSeconds(event.at).toFixed(3).padStart(9)}  ${said}`);
  }
  return lines;
}

function line(what: string, process: Parameters<typeof processName>[0] | null, rest: string): string {
  const who = process === null ? "" : processName(process);
  return `${what.padEnd(7)}  ${who.padEnd(9)}  ${rest}`.trimEnd();
}

function named({ processes }: { readonly processes: readonly ProcessId[] }): string {
  return processes.map(processName).join(", ");
}

function moment(at: Instant): string {
  return at === never ? "it ends" : inSeconds(at).toFixed(3);
}

function paper(length: number): string {
  return String(length / 1_000);
}

/** A command may hold anything; a journal is one line an event. */
function printable(text: string): string {
  return text.replace(unprintable, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Control characters, and what would break the line. */
const unprintable = /[\p{Cc}\u2028\u2029]/gu;

function risksOf(event: TrialEvent): readonly string[] {
  return ("risks" in event ? event.risks : undefined) ?? [];
}
