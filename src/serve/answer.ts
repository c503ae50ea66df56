/** Results as a model reads them: the output, and a line that says how things stand and what may be done next. */
import type { NoticeOnResult } from "../agent/messages.ts";
import type {
  BudgetFields,
  ConditionResult,
  ExecResult,
  ListResult,
  ProcessResult,
  Totals,
  WaitResult,
} from "../agent/shell.ts";
import { listed } from "../scenario/fault.ts";

type AnyResult = ExecResult | ProcessResult | WaitResult;

/** @param notices what is told beside, each a line of its own */
export function answerText(
  result: AnyResult | ConditionResult | ListResult,
  notices: readonly NoticeOnResult[] = [],
): string {
  const told = notices.map(({ kind, text }) => `\n[${kind}] ${text}`).join("");
  if ("processes" in result) return listText(result) + told;
  const { output } = result;
  const line = `[${"outcome" in result ? conditionLine(result) : statusLine(result)}]`;
  if (output === "") return line + told;
  return `${output}${output.endsWith("\n") ? "" : "\n"}${line}${told}`;
}

function statusLine(result: AnyResult): string {
  const parts = [standing(result)];
  if ("requested_wait_seconds" in result) parts.push(...waitWords(result));
  if ("auto_await_outcome" in result) parts.push(...holdWords(result), ...classWords(result), ...twinWords(result));
  if (result.status === "running") parts.push(whatNext(result.process_id));
  if (result.cpu_seconds !== undefined) parts.push(`It has used ${result.cpu_seconds} s of CPU.`);
  parts.push(...leftWords(result));
  if (!result.output_complete) parts.push("Some of its output may be missing here.");
  parts.push(`Its output so far ends at byte ${result.next_offset}.`);
  parts.push(...budgetWords(result));
  if ("hint" in result && result.hint !== undefined) parts.push(result.hint.text);
  return parts.join(" ");
}

/** How the process stands. */
function standing(result: AnyResult): string {
  const { status, process_id: name, exit_code: code, signal, elapsed_seconds: elapsed } = result;
  const how = signal !== null ? `by ${signal}` : code !== null ? `with exit code ${code}` : "";
  const ended = how === "" ? "" : ` ${how}`;
  switch (status) {
    case "running":
      return `${name} is running, ${elapsed} s after its start.`;
    case "completed":
      return `${name} completed${ended} after ${elapsed} s.`;
    case "failed":
      return `${name} failed${ended} after ${elapsed} s.`;
    case "timed_out":
      if (result.silence_ended_it)
        return `${name} printed nothing for too long and was ended${ended} after ${elapsed} s, with all it had started.`;
      return `${name} reached its time limit after ${elapsed} s and was ended${ended}, with all it had started.`;
    case "terminated":
      return `${name} was stopped after ${elapsed} s${ended}, with all it had started.`;
    case "already_exited":
      return `${name} had ended already${how === "" ? "" : `, ${how}`}; there was nothing to stop.`;
    case "termination_failed":
      return `${name} could not be ended, not even by SIGKILL.`;
    case "lost":
      return `${name} is lost: the runtime that had started it was killed, and nobody saw how it ended.`;
    case "cancelled":
      return `${name} was cancelled.`;
  }
}

function conditionLine(result: ConditionResult): string {
  const { outcome, probes, elapsed_seconds: held, last_exit_code: code } = result;
  const looks = `${probes === 1 ? "one look" : `${probes} looks`} in ${held} s`;
  const last = code === null ? "the last did not end in time" : `the last ended with exit code ${code}`;
  const said = {
    met: `The condition holds, after ${looks}.`,
    timed_out: `The condition does not hold after ${looks}; ${last}.`,
    cannot_be_met: `The condition cannot be looked at: ${last} (${looks}).`,
    cancelled: `The wait was given up after ${looks}.`,
  }[outcome];
  const cut = result.wait_clamped
    ? [`The wait of ${result.requested_wait_seconds} s was cut (${listed(result.clamp_reasons)}).`]
    : [];
  return [said, ...cut, ...budgetWords(result)].join(" ");
}

function waitWords(result: WaitResult): readonly string[] {
  const { requested_wait_seconds: asked, effective_wait_seconds: granted, clamp_reasons: reasons } = result;
  if (result.wait_clamped) {
    return granted === 0
      ? [`The wait of ${asked} s did not start (${listed(reasons)}).`]
      : [`The wait of ${asked} s was cut to ${granted} s (${listed(reasons)}).`];
  }
  if (result.ended_early !== undefined) return [`It came back early (${result.ended_early}).`];
  if (result.wait_raised) return [`The wait of ${asked} s was raised to ${granted} s, the shortest there is.`];
  return result.wait_defaulted ? [`No wait was named, so it was ${granted} s.`] : [];
}

function holdWords({ status, auto_await_outcome: outcome, clamp_reasons: reasons }: ExecResult): readonly string[] {
  if (status !== "running" || outcome === null) return [];
  return [reasons.length === 0 ? `It was handed back (${outcome}).` : `It was handed back early (${listed(reasons)}).`];
}

/** Another run of the same command that lives beside it. */
function twinWords({ duplicate_of: twin, duplicate_elapsed_seconds: elapsed }: ExecResult): readonly string[] {
  return twin === undefined ? [] : [`The same command was running already, as ${twin}, for ${elapsed} s.`];
}

/** Whose hard limit it was, where the caller named none. */
function classWords({ command_class: found, hard_timeout_seconds: limit }: ExecResult): readonly string[] {
  return found === undefined ? [] : [`Its hard limit is ${limit} s, as of class ${found}.`];
}

/** What a process that has ended has left behind. */
function leftWords({ surviving_processes: left, output_held_open: open }: AnyResult): readonly string[] {
  if (left === undefined) return [];
  const those = left === 1 ? "1 process that it had started lives on" : `${left} processes that it had started live on`;
  return [`${those}${open ? " and may still print" : ""}; the end of the session is theirs.`];
}

function whatNext(name: string): string {
  return `It goes on by itself: do not start it again; process(action: "wait", process_id: "${name}") waits for it.`;
}

function budgetWords(result: BudgetFields): readonly string[] {
  const { remaining_run_seconds: left, finalization_reserve_seconds: reserve, guidance } = result;
  return [
    ...(left === undefined
      ? []
      : [`${left} s of this run are left, the last ${reserve} s of them kept for finishing.`]),
    ...(guidance === undefined ? [] : [guidance.text]),
  ];
}

function listText(result: ListResult): string {
  const { processes, totals } = result;
  const lines = processes.map(
    ({ process_id, status, elapsed_seconds, command }) => `${process_id}  ${status}  ${elapsed_seconds} s  ${command}`,
  );
  const count = processes.length === 1 ? "1 process" : `${processes.length} processes`;
  const said = [`${count}.`, heldWords(totals), ...budgetWords(result)].join(" ");
  return [...lines, `[${said}]`].join("\n");
}

function heldWords(totals: Totals): string {
  return `Held so far: ${totals.total_foreground_auto_await_seconds} s by auto-await, ${totals.total_process_wait_seconds} s by waits.`;
}
