/**
 * A chart: rows and a Vega-Lite spec become an SVG that is there without JavaScript, and what a browser needs to draw it anew.
 *
 * Drawing is strict where Vega is lenient. Whatever it would only warn of (a load that fails, a field that is not there) is an
 * error; nothing is loaded from anywhere; and the bytes depend on the rows and the spec alone: text is measured by a table, and
 * the ids inside an SVG are counted from the chart's name.
 */
import type * as VegaModule from "vega";
import type * as VegaLiteModule from "vega-lite";
import type { Spec } from "./definition.ts";
import { ReportError } from "./experiment.ts";
import { CHART_CONFIG, type Conventions } from "./theme.ts";

export type Row = Readonly<Record<string, unknown>>;

export interface Chart {
  readonly name: string;
  readonly rows: readonly Row[];
  /** For a page of at least 700 pixels, and for a narrower one. */
  readonly wide: Drawing;
  readonly narrow: Drawing;
}

interface Drawing {
  /** Without its rows. */
  readonly spec: Spec;
  readonly svg: string;
}

/** Rows that Vega can draw and a page can carry without growing heavy. */
const MOST_ROWS = 6_000;

export class ChartMaker {
  readonly #vega: typeof VegaModule;
  readonly #vegaLite: typeof VegaLiteModule;
  readonly #conventions: Conventions;

  private constructor(vega: typeof VegaModule, vegaLite: typeof VegaLiteModule, conventions: Conventions) {
    this.#vega = vega;
    this.#vegaLite = vegaLite;
    this.#conventions = conventions;
  }

  /** Vega takes a third of a second to load, so whoever draws nothing does not load it. */
  static async open(conventions: Conventions): Promise<ChartMaker> {
    const [vega, vegaLite] = await Promise.all([import("vega"), import("vega-lite")]);
    return new ChartMaker(vega, vegaLite, conventions);
  }

  /** @param name where the chart stands in the page; its own alone */
  async make(name: string, spec: Spec, rows: readonly Row[]): Promise<Chart> {
    if (rows.length > MOST_ROWS) {
      throw new ReportError(`chart ${name} has ${rows.length} rows, more than ${MOST_ROWS}: aggregate in its query`);
    }
    const { usermeta, $schema: _, ...told } = spec as Spec & { usermeta?: { narrow?: Spec } };
    const wide = conventional(told, this.#conventions, rows, 4);
    const narrow = conventional(patched(told, usermeta?.narrow ?? { width: 300 }) as Spec, this.#conventions, rows, 2);
    return {
      name,
      rows,
      wide: { spec: wide, svg: await this.#drawn(`${name}-wide`, wide, rows) },
      narrow: { spec: narrow, svg: await this.#drawn(`${name}-narrow`, narrow, rows) },
    };
  }

  async #drawn(name: string, spec: Spec, rows: readonly Row[]): Promise<string> {
    const vega = this.#vega;
    const complaints: string[] = [];
    const logger = collecting(complaints);
    const metrics = (vega as unknown as { textMetrics: TextMetrics }).textMetrics;
    const { width } = metrics;
    metrics.width = widthOf;
    vega.resetSVGDefIds();
    try {
      const compiled = this.#vegaLite.compile({ ...spec, data: { values: rows } } as never, {
        config: CHART_CONFIG as never,
        logger,
      });
      const view = new vega.View(vega.parse(compiled.spec), { renderer: "none", loader: refusing(complaints), logger });
      const svg = await view.toSVG();
      view.finalize();
      if (complaints.length > 0) throw new ReportError(`chart ${name}: ${complaints.join("; ")}`);
      return embedded(name, svg);
    } catch (error) {
      if (error instanceof ReportError) throw error;
      const first = [...complaints, error instanceof Error ? error.message : String(error)];
      throw new ReportError(`chart ${name}: ${first.join("; ")}`, { cause: error });
    } finally {
      metrics.width = width;
    }
  }
}

/** JSON merge patch (RFC 7396): objects are merged, `null` takes away, anything else replaces. */
export function patched(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = patched(merged[key], value);
  }
  return merged;
}

/**
 * The spec with the order and looks that fields such as `arm` have throughout a report, wherever a channel names such a
 * field. What the spec says itself wins. Of an order only what the rows have in them is kept, and many arms stand closer.
 *
 * @param legendColumns of a legend with more entries than fit one line
 */
export function conventional(spec: Spec, conventions: Conventions, rows: readonly Row[], legendColumns: number): Spec {
  // Where arms lie in cells, they are no rows of a chart.
  const crowded = (conventions["arm"]?.order.length ?? 0) > APART && conventions["across"] === undefined;
  return walked(spec) as Spec;

  function walked(node: unknown, key = ""): unknown {
    if (Array.isArray(node)) return node.map((each) => walked(each, key));
    if (!isObject(node)) return node;
    const inner = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, walked(value, name)]));
    const { field, legend: own, step } = inner;
    if (key === "height" && typeof step === "number" && crowded) return { ...inner, step: Math.min(step, CLOSE) };
    if (typeof field !== "string" || !Object.hasOwn(conventions, field) || !CHANNELS.has(key)) return inner;
    const as = conventions[field]!.as ?? field;
    const { title, ...convention } = conventions[as]!;
    const legend =
      title === undefined || own === null || !LEGENDS.has(key)
        ? {}
        : { legend: { title, columns: legendColumns, ...(isObject(own) ? own : {}) } };
    return { ...looks(key, convention, new Set(rows.map((row) => row[as]))), ...inner, ...legend, field: as };
  }
}

/** Arms stand as far apart as a spec says up to so many, and then at most so many pixels. */
const APART = 8;
const CLOSE = 24;

const CHANNELS = new Set([
  "x",
  "y",
  "xOffset",
  "yOffset",
  "row",
  "column",
  "facet",
  "detail",
  "color",
  "fill",
  "stroke",
  "strokeDash",
  "shape",
]);
const LEGENDS = new Set(["color", "fill", "stroke", "strokeDash", "shape"]);

function looks(
  channel: string,
  { order, colours, dashes, shapes }: Conventions[string],
  present: ReadonlySet<unknown>,
): Spec {
  if (channel === "detail") return {};
  const kept = order.flatMap((name, index) => (present.has(name) ? [index] : []));
  const domain = kept.map((index) => order[index]!);
  const all =
    channel === "strokeDash" ? dashes : channel === "shape" ? shapes : LEGENDS.has(channel) ? colours : undefined;
  return { sort: domain, ...(all === undefined ? {} : { scale: { domain, range: kept.map((index) => all[index]!) } }) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Said of every chart that is fitted in width and has a step for its height, which is just what is wanted of it. */
const HARMLESS = /^Dropping "fit-[xy]" because spec has discrete (width|height)\.$/;

/** Vega's logger, for which there is no such thing as a mere warning. It does not throw: whoever waits for Vega would wait on. */
function collecting(complaints: string[]): VegaModule.LoggerInterface {
  const note = (...what: readonly unknown[]) => {
    const said = what.map(String).join(" ");
    if (!HARMLESS.test(said)) complaints.push(said);
    return logger;
  };
  const quiet = () => logger;
  const logger = {
    level: quiet,
    error: note,
    warn: note,
    info: quiet,
    debug: quiet,
  } as unknown as VegaModule.LoggerInterface;
  return logger;
}

/** Charts have their rows in them. A spec that names an address has a mistake, or worse. */
function refusing(complaints: string[]): VegaModule.Loader {
  const refuse = (address: unknown): Promise<never> => {
    const said = `it asks for ${String(address)}, and a chart loads nothing: its rows come from its query`;
    complaints.push(said);
    return Promise.reject(new ReportError(said));
  };
  return { load: refuse, sanitize: refuse, http: refuse, file: refuse } as unknown as VegaModule.Loader;
}

/**
 * An SVG as a part of a page. Its ids, counted anew in each, get the chart's name; what the page says already (font, that it is
 * hidden from screen readers) goes, and so do digits beyond a hundredth of a pixel. Only tags are touched: what a label says may
 * look like anything.
 */
function embedded(name: string, svg: string): string {
  return svg
    .replace(/<[a-z][^>]*>/gi, (tag) =>
      tag
        .replace(SUPERFLUOUS, "")
        .replace(/-?\d+\.\d{3,}/g, (number) => String(Number(Number(number).toFixed(2))))
        .replace(/ id="([^"]*)"/, ` id="${name}-$1"`)
        .replace(/url\(#([^)]*)\)/g, `url(#${name}-$1)`)
        .replace(/ xlink:href="#([^"]*)"/, ` xlink:href="#${name}-$1"`),
    )
    .replace("<svg ", '<svg aria-hidden="true" focusable="false" ');
}
const SUPERFLUOUS =
  / (?:(?:font-family|role|aria-label|aria-roledescription|aria-hidden|pointer-events)="[^"]*"|opacity="1")/g;

/**
 * How wide text is, since there is no font to ask: in ems, by the first class that a character is in. Of the wide ones among
 * the common sans-serifs, because room that is not used looks better than a letter that is cut.
 */
const WIDTHS: readonly (readonly [RegExp, number])[] = [
  [/[ijlI.,:;'|!·]/, 0.32],
  [/[ftr()[\]{} \-–/]/, 0.42],
  [/[a-ln-vx-z0-9+=<>#$?_^~±×−]/, 0.61],
  [/[mwMW%@…—]/, 0.95],
  [/[A-Z&]/, 0.7],
];

interface TextItem {
  readonly fontSize?: number;
  readonly text?: unknown;
  /** Text is cut so that it is no wider than this, if it is above 0. */
  readonly limit?: number;
}

/** What Vega measures text with; it may be replaced, and the typings leave it out. */
interface TextMetrics {
  width: (item: TextItem, text: unknown) => number;
}

function widthOf({ fontSize = 11, limit = 0, text: own }: TextItem, text: unknown): number {
  const lines = [text ?? own].flat();
  const width = Math.max(0, ...lines.map((line) => lineWidth(String(line ?? "")))) * fontSize;
  return limit > 0 ? Math.min(width, limit) : width;
}

function lineWidth(line: string): number {
  let ems = 0;
  for (const character of line) ems += WIDTHS.find(([those]) => those.test(character))?.[1] ?? 1;
  return ems;
}
