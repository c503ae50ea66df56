/** Where the cells of a panel lie that varies what is around its arms, and what a reader calls that. */
import type { Arm, Experiment } from "./experiment.ts";
import { plain } from "./numbers.ts";

export interface CellPlace {
  /** Counted from 1, in the order of its arms. */
  readonly cell: number;
  readonly levels: Readonly<Record<string, string>>;
  readonly isOwn: boolean;
  /** By what the panel calls them. */
  readonly arms: ReadonlyMap<string, Arm>;
}

/** The cells of a file, in order; none where its panel varies nothing. */
export function placesOf({ arms }: Pick<Experiment, "arms">): readonly CellPlace[] {
  const places = new Map<string, CellPlace & { readonly arms: Map<string, Arm> }>();
  for (const arm of arms) {
    if (arm.cell === null) continue;
    const { levels, own } = arm.cell;
    const key = JSON.stringify(levels);
    const place = places.get(key) ?? { cell: places.size + 1, levels, isOwn: own, arms: new Map() };
    place.arms.set(arm.cell.arm, arm);
    places.set(key, place);
  }
  return [...places.values()];
}

/** What is varied, in the panel's order. */
export function variedIn(cells: readonly Pick<CellPlace, "levels">[]): readonly string[] {
  return Object.keys(cells[0]?.levels ?? {});
}

export function levelsOf(cells: readonly Pick<CellPlace, "levels">[], name: string): readonly string[] {
  return [...new Set(cells.map(({ levels }) => levels[name]!))];
}

/** What is varied, as a reader calls it, and in short beside a level; anything else goes by its own name. */
const CALLED: Readonly<Record<string, { readonly title: string; readonly tag: string; readonly percent?: boolean }>> = {
  quiet_waits: { title: "number of quiet waits before a stop", tag: "quiet waits" },
  long_wait_probability: { title: "probability of the longest wait", tag: "longest wait" },
  hang_probability: { title: "share of commands that hang", tag: "hanging", percent: true },
  thinking_seconds: { title: "mean thinking", tag: "thinking" },
};

export function called(name: string): string {
  return CALLED[name]?.title ?? name.replaceAll("_", " ");
}

export function levelInWords(name: string, level: string): string {
  if (CALLED[name]?.percent && level !== "own") return `${plain(Number(level) * 100)} %`;
  return name.endsWith("_seconds") && Number.isFinite(Number(level)) ? `${plain(Number(level))} s` : level;
}

export function levelCalled(name: string, level: string): string {
  return `${CALLED[name]?.tag ?? name.replaceAll("_", " ")} ${levelInWords(name, level)}`;
}

/** What is neither across nor down, in words. */
export function placeOf(levels: CellPlace["levels"], names: readonly string[]): string {
  return names.map((name) => levelCalled(name, levels[name] ?? "")).join(", ");
}
