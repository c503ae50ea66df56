/** Small pieces of page that every section uses: an arm's name, a table, a block that scrolls by itself. */
import { dictionaryOf } from "../telemetry/table.ts";
import { TABLES } from "../telemetry/tables.ts";
import type { Row } from "./chart.ts";
import { type Arm, type Experiment, short } from "./experiment.ts";
import { type Html, html } from "./html.ts";
import { plain } from "./numbers.ts";
import { seriesNumber } from "./theme.ts";

/** What the page calls the arms. */
export class Names {
  readonly #arms: readonly Arm[];
  readonly #byName: ReadonlyMap<string, Arm>;
  readonly #byLabel: ReadonlyMap<string, Arm>;

  constructor({ arms }: Experiment) {
    this.#arms = arms;
    this.#byName = new Map(arms.map((arm) => [arm.row.arm, arm]));
    this.#byLabel = new Map(arms.map((arm) => [arm.label, arm]));
  }

  /** The label; of an arm that the panel does not have, its name cut short. */
  readonly of = (name: string): string => this.#byName.get(name)?.label ?? short(name);

  /** The name with the arm's colour beside it. */
  chip(name: string): Html {
    return this.#chip(this.#byName.get(name), this.of(name));
  }

  chipOfLabel(label: string): Html {
    return this.#chip(this.#byLabel.get(label), label);
  }

  #chip(arm: Arm | undefined, label: string): Html {
    const dot = arm === undefined ? null : html`<i class="dot s${seriesNumber(this.#arms, arm)}"></i>`;
    return html`<span class="arm">${dot}<bdi>${label}</bdi></span>`;
  }
}

/** A block that scrolls sideways by itself where it is wider than the page; reachable by keyboard for that reason. */
export function scrolling(label: string, content: Html): Html {
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">${content}</div>`;
}

export interface Column {
  readonly head: Html | string;
  /** Numbers stand right. */
  readonly number?: boolean;
}

export function table(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly (Html | string)[])[],
  { rowHeads = true, kind = "" }: { readonly rowHeads?: boolean; readonly kind?: string } = {},
): Html {
  const cell = (content: Html | string, index: number) => {
    const right = columns[index]?.number ? html` class="number"` : null;
    return index === 0 && rowHeads ? html`<th scope="row"${right}>${content}</th>` : html`<td${right}>${content}</td>`;
  };
  return html`<table class="${kind}"><caption class="unseen">${caption}</caption><thead><tr>${columns.map(
    ({ head, number }) => html`<th scope="col"${number ? html` class="number"` : null}>${head}</th>`,
  )}</tr></thead><tbody>${rows.map((row) => html`<tr>${row.map(cell)}</tr>\n`)}</tbody></table>`;
}

/** Columns that are there for a spec and say nothing to a reader, as those do whose name begins with an underscore. */
const UNSHOWN = new Set(["position", "series", "tag"]);

/** Rows of a query as a table: every column that a reader has use for. */
export function dataTable(caption: string, rows: readonly Row[], names: Names): Html {
  const columns = Object.keys(rows[0] ?? {}).filter((name) => !UNSHOWN.has(name) && !name.startsWith("_"));
  const isNumber = (name: string) => rows.every((row) => row[name] === null || typeof row[name] === "number");
  return table(
    caption,
    columns.map((name) => ({ head: titleOf(name), number: isNumber(name) })),
    rows.map((row) => columns.map((name) => shown(name, row[name], names))),
    { rowHeads: false },
  );
}

function shown(column: string, value: unknown, names: Names): Html | string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return plain(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if ((column === "arm" || column === "against") && typeof value === "string") return names.chipOfLabel(value);
  if (column === "kind") return String(value).replaceAll("_", " ");
  return typeof value === "string" ? value : JSON.stringify(value);
}

const units = new Map(dictionaryOf(TABLES).map(({ column, unit }) => [column, unit]));

/** Units by how a name ends. */
const ENDINGS: Readonly<Record<string, string>> = {
  seconds: "s",
  usd: "USD",
  tokens: "tokens",
  bytes: "bytes",
  percent: "%",
};

/** `longest_control_gap_seconds` is "longest control gap (s)"; a unit is known from the tables or from the name. */
export function titleOf(column: string): string {
  const [, bare = column, ending = ""] = /^(?:(.*)_)?([a-z]+)$/.exec(column) ?? [];
  const unit = ENDINGS[ending];
  if (unit === undefined) {
    const known = units.get(column);
    return column.replaceAll("_", " ") + (known ? ` (${known})` : "");
  }
  return column === "seconds" ? "time (s)" : column === ending ? column : `${bare.replaceAll("_", " ")} (${unit})`;
}

/** `a, b and c`. */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** `1 replicate`, `30 replicates`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${plain(count)} ${count === 1 ? one : many}`;
}

/** A number and its unit stay on one line. */
export function kept(sentence: string): string {
  return sentence.replace(/(\d) (?=%|s\b|points\b|USD\b|tokens\b)/g, "$1\u00a0");
}
