/**
 * Numbers as a reader sees them: as many digits as their doubt allows, and their unit.
 *
 * An interval of ±0.7 makes a third digit behind the point noise, so the interval's own width says how many are shown.
 */

export type Unit = "s" | "share" | "count" | "tokens" | "USD" | "bytes";

/** What is shown of an estimate. Without an interval where the data carry none. */
export interface Figure {
  readonly value: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** `1,265 s`, `4.7 %`, `28.70`, `0.0412 USD`. */
export function quantity(value: number, unit: Unit, decimals = ownDecimals(value * scale(unit), unit)): string {
  return `${fixed(value * scale(unit), decimals)}${suffix(unit)}`;
}

/** The value of an estimate with its unit. */
export function shownValue(figure: Figure, unit: Unit): string {
  return quantity(figure.value, unit, decimalsOf(figure, unit));
}

/** `4.5 to 6.1`, in the unit of the value; null where there is no interval. */
export function intervalOf(figure: Figure, unit: Unit): string | null {
  if (figure.low === null || figure.high === null) return null;
  const decimals = decimalsOf(figure, unit);
  return `${fixed(figure.low * scale(unit), decimals)} to ${fixed(figure.high * scale(unit), decimals)}`;
}

/** A difference with its sign; of shares in percentage points. */
export function changeOf(figure: Figure, unit: Unit): string {
  return `${signed(figure.value * scale(unit), decimalsOf(figure, unit))}${unit === "share" ? " points" : suffix(unit)}`;
}

export function changeIntervalOf(figure: Figure, unit: Unit): string | null {
  if (figure.low === null || figure.high === null) return null;
  const decimals = decimalsOf(figure, unit);
  return `${signed(figure.low * scale(unit), decimals)} to ${signed(figure.high * scale(unit), decimals)}`;
}

/** `+29.6 %`; beyond tenfold `× 53.0`. */
export function relative(change: number): string {
  if (change > 9) return `× ${fixed(change + 1, 1)}`;
  return `${signed(change * 100, Math.abs(change) < 0.1 ? 1 : 0)} %`;
}

export function whole(value: number): string {
  return fixed(value, 0);
}

/** `p < 0.001`, `p = 0.032`. */
export function probability(p: number): string {
  return p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(p < 0.1 ? 3 : 2)}`;
}

/** A number in a data table: four digits that count, or all of a whole number. */
export function plain(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value)) return fixed(value, 0);
  const digits = 3 - Math.floor(Math.log10(Math.abs(value)));
  return fixed(value, Math.min(Math.max(digits, 0), 6))
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");
}

/** With thousands separated, a true minus, and no minus before nothing. */
export function fixed(value: number, decimals: number): string {
  const digits = Math.abs(value).toFixed(decimals);
  const grouped = digits.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
  return value < 0 && Number(digits) !== 0 ? `−${grouped}` : grouped;
}

function signed(value: number, decimals: number): string {
  const text = fixed(value, decimals);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

function scale(unit: Unit): number {
  return unit === "share" ? 100 : 1;
}

/** What stands behind a number of this unit. */
export function suffix(unit: Unit): string {
  return unit === "count" ? "" : unit === "share" ? " %" : ` ${unit}`;
}

/** Two digits of half the interval's width; where there is none, by the size of the value. */
export function decimalsOf({ value, low, high }: Figure, unit: Unit): number {
  const width = low === null || high === null ? 0 : (high - low) * scale(unit);
  // An interval of no width, or of rounding only.
  if (!(width > 1e-9 * Math.abs(value * scale(unit)))) return ownDecimals(value * scale(unit), unit);
  return Math.min(Math.max(1 - Math.floor(Math.log10(width / 2)), 0), mostDecimals(unit));
}

function ownDecimals(value: number, unit: Unit): number {
  const size = Math.abs(value);
  if (size === 0 || size >= 1_000) return 0;
  if (size >= 100) return 1;
  return size >= 1 ? 2 : mostDecimals(unit);
}

/** A trial costs cents, and what it pays for a pause a fraction of one. */
function mostDecimals(unit: Unit): number {
  return unit === "USD" ? 4 : 2;
}
