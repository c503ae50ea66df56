/** What a model is still to be told of an end: of the run, or of a job's own time. */
import { type Deadline, deadlineText } from "../policy/deadline.ts";
import { utf8Length } from "../policy/notice.ts";
import { type Instant, never } from "../policy/time.ts";
import type { Record } from "./events.ts";

export interface ToldOfEnd {
  readonly kind: Deadline["kind"];
  readonly text: string;
  readonly bytes: number;
}

export class Deadlines {
  /** When the next is due; `never` once all have been told. */
  nextAt: Instant;
  #left: readonly Deadline[];
  readonly #end: Instant;
  readonly #record: Record;

  /** @param left in order of time */
  constructor(left: readonly Deadline[], end: Instant, record: Record) {
    this.#left = left;
    this.#end = end;
    this.#record = record;
    this.nextAt = left[0]?.due ?? never;
  }

  /** All that is due; of two of a kind only the later one. */
  take(now: Instant): readonly ToldOfEnd[] {
    const due = this.#left.filter((deadline) => deadline.due <= now);
    this.#left = this.#left.slice(due.length);
    this.nextAt = this.#left[0]?.due ?? never;
    const last = due.filter(({ kind }, at) => !due.slice(at + 1).some((later) => later.kind === kind));
    return last.map(({ kind, due: since }) => {
      const text = deadlineText(kind, now, this.#end);
      const bytes = utf8Length(text);
      const once = { woke: false, attempts: 1, deferred: false };
      this.#record({ event: "told", at: now, kind, due: since, processes: [], bytes, ...once });
      return { kind, text, bytes };
    });
  }
}
