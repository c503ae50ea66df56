/** What a person sees in the terminal. */
import { describe, expect, test } from "vitest";
import { openScreen } from "../../src/cli/screen.ts";

/** What is written on a terminal so wide, without its colours; undefined: it is no terminal. */
function seen(columns: number | undefined, write: (screen: ReturnType<typeof openScreen>) => void): string[] {
  let text = "";
  const stream = { isTTY: columns !== undefined, columns, write: (more: string) => (text += more) };
  write(openScreen({ stream: stream as unknown as NodeJS.WriteStream, environment: { NO_COLOR: "1" } }));
  return text.split("\n");
}

const head = ["\narm", "outer\ntimeouts", "\nreward", "duration\n(s)", "cost\n(USD)"];
const rows = [
  ["control", "0.8", "0.981", "1848", "10.258"],
  ["treatment", "2.2", "0.945", "2069", "9.959"],
];
const drawn = (columns: number | undefined) => seen(columns, ({ table }) => table(head, rows, "lrrrr"));

describe("a table", () => {
  test("stands in one piece where there is room, or no terminal", () => {
    const whole = drawn(undefined);
    expect(whole).toEqual(drawn(200));
    expect(whole.slice(0, 4)).toEqual([
      "                 outer              duration      cost",
      " arm          timeouts    reward         (s)     (USD)",
      " control           0.8     0.981        1848    10.258",
      " treatment         2.2     0.945        2069     9.959",
    ]);
  });

  test("that is wider than the terminal is folded: every column once, each block under the same first one", () => {
    for (const columns of [30, 40, 50, 55]) {
      const lines = drawn(columns);
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
      const text = lines.join(" ");
      for (const row of rows) for (const cell of row.slice(1)) expect(text.split(cell)).toHaveLength(2);
      expect(lines.filter((line) => line.startsWith(" treatment")).length).toBeGreaterThan(1);
    }
  });

  test("is not folded where what names its rows takes half of the terminal: lines run on", () => {
    expect(drawn(25)).toEqual(drawn(undefined));
    const twoNames = (names: number) =>
      seen(60, ({ table }) =>
        table(["a", "b", ...head], [["x".repeat(20), "y".repeat(30), ...rows[0]!]], "lllrrrr", names),
      );
    expect(twoNames(2)).toEqual(
      seen(undefined, ({ table }) =>
        table(["a", "b", ...head], [["x".repeat(20), "y".repeat(30), ...rows[0]!]], "lllrrrr"),
      ),
    );
    expect(twoNames(1).length).toBeGreaterThan(twoNames(2).length);
  });
});
