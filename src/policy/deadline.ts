/**
 * What a model is told of the end: of the run at stated shares of it, of the reserve as it begins, of a job's own timeout.
 *
 * Each is told once, before the first step that comes to be made after it is due, at the end of the conversation. Nothing is
 * extended by it, and nothing is ended.
 */
import { type RunBudget, reserveBegins } from "./budget.ts";
import type { MessageKind } from "./notice.ts";
import type { Settings } from "./settings.ts";
import { after, before, between, type Duration, type Instant, inSeconds } from "./time.ts";

export interface Deadline {
  readonly due: Instant;
  readonly kind: Extract<MessageKind, "deadline_notice" | "wrap_up">;
}

type Terms = Pick<Settings, "deadlineNoticeShare" | "deadlineNoticeAgainShare" | "wrapUpInReserve">;

/** What a run is told of its end, in order of time; nothing where no budget is told. */
export function runDeadlines(settings: Terms, budget: RunBudget | null): readonly Deadline[] {
  if (budget === null) return [];
  const { deadlineNoticeShare, deadlineNoticeAgainShare, wrapUpInReserve } = settings;
  const notices = [deadlineNoticeShare, deadlineNoticeAgainShare].flatMap((share): Deadline[] => {
    if (share === null) return [];
    // Counted back from the end, so that a margin shortens the run and moves no share of it past its deadline.
    const left = Math.round(budget.length * (1 - share)) as Duration;
    return [{ due: before(budget.deadline, left), kind: "deadline_notice" }];
  });
  const wrapUp: Deadline[] = wrapUpInReserve ? [{ due: reserveBegins(budget), kind: "wrap_up" }] : [];
  return [...notices, ...wrapUp].sort((one, other) => one.due - other.due);
}

/** When a job is told to write up, whose time is up after `timeout`; null where it is not. */
export function softDeadline(
  startedAt: Instant,
  timeout: Duration | null,
  { softDeadlineShare: share, softDeadlineMinTimeout: least }: Settings,
): Deadline | null {
  if (timeout === null || share === null || timeout < least) return null;
  return { due: after(startedAt, Math.round(timeout * share) as Duration), kind: "wrap_up" };
}

/** Whether anything is ever told of an end. */
export function tellsOfEnds(settings: Settings): boolean {
  const { deadlineNoticeShare, deadlineNoticeAgainShare, wrapUpInReserve, softDeadlineShare } = settings;
  return (
    [deadlineNoticeShare, deadlineNoticeAgainShare, softDeadlineShare].some((share) => share !== null) ||
    wrapUpInReserve
  );
}

/** @param end of the run, or of a job's time */
export function deadlineText(kind: Deadline["kind"], now: Instant, end: Instant): string {
  const left = between(now, end);
  const minutes = `${Math.floor(inSeconds(left) / 60)} min (${Math.floor(inSeconds(left))} s)`;
  if (kind === "deadline_notice")
    return `${minutes} of this run are left. Commit what stands, and leave out what can be left out.`;
  return `${minutes} are left. Stop exploring, write the answer from what you have, and mark it as partial if it is.`;
}
