import { beforeAll, describe, expect, test } from "vitest";
import { ChartMaker, conventional, patched, type Row } from "../../src/report/chart.ts";
import type { Spec } from "../../src/report/definition.ts";
import type { Conventions } from "../../src/report/theme.ts";

const conventions: Conventions = {
  arm: {
    order: ["control", "treatment"],
    colours: ["#66717e", "#c2471b"],
    dashes: [
      [1, 0],
      [6, 3],
    ],
    shapes: ["circle", "square"],
  },
  series: { as: "arm", order: ["control", "treatment"], colours: ["#66717e", "#c2471b"] },
};
const rows: readonly Row[] = [
  { arm: "control", seconds: 1 },
  { arm: "treatment", seconds: 4 },
];
const bars: Spec = {
  mark: { type: "bar", clip: true },
  encoding: {
    y: { field: "arm", type: "nominal" },
    x: { field: "seconds", type: "quantitative" },
    color: { field: "arm", type: "nominal" },
  },
};

let maker: ChartMaker;
beforeAll(async () => {
  maker = await ChartMaker.open(conventions);
});

describe("a chart", () => {
  test("is the same bytes whatever was drawn before it", async () => {
    const first = await maker.make("bars", bars, rows);
    await maker.make("others", bars, rows);
    expect(await maker.make("bars", bars, rows)).toEqual(first);
  });

  test("has ids of its own, and refers to those", async () => {
    const { wide, narrow } = await maker.make("bars", bars, rows);
    const ids = [...`${wide.svg}${narrow.svg}`.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(ids.length).toBeGreaterThan(0);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, id] of wide.svg.matchAll(/url\(#([^)]*)\)/g)) expect(ids).toContain(id);
    expect(ids.every((id) => /^bars-(wide|narrow)-/.test(id!))).toBe(true);
  });

  test("keeps its rows out of its spec", async () => {
    const { wide, rows: kept } = await maker.make("bars", bars, rows);
    expect(kept).toBe(rows);
    expect(JSON.stringify(wide.spec)).not.toContain('"seconds":1');
  });

  test("shows a label that looks like markup, or like an id, as it is", async () => {
    const name = 'a</text><script>alert("1")</script> id="x" role="y"';
    const { wide } = await maker.make("bars", bars, [{ arm: name, seconds: 1 }]);
    expect(wide.svg).not.toContain("<script>");
    expect(wide.svg).toContain('&lt;script&gt;alert("1")');
  });

  test("is patched for a narrow page, and the patch is no part of what is drawn", async () => {
    const { wide, narrow } = await maker.make(
      "bars",
      { ...bars, width: 900, usermeta: { narrow: { width: 300 } } },
      rows,
    );
    expect([wide.spec["width"], narrow.spec["width"]]).toEqual([900, 300]);
    expect(wide.spec["usermeta"]).toBeUndefined();
  });
});

describe("a chart is refused", () => {
  const refusals: Readonly<Record<string, readonly [Spec, RegExp]>> = {
    "where Vega only warns": [{ ...bars, mark: "bogus" }, /chart bars/],
    "where a channel cannot be": [
      {
        ...bars,
        encoding: {
          ...(bars["encoding"] as object),
          size: { field: "seconds", type: "nominal", bin: true },
          bogus: {},
        },
      },
      /chart bars-wide: .*bogus/,
    ],
    "where it would load something": [
      {
        layer: [
          { data: { url: "file:///etc/passwd" }, mark: "point", encoding: { x: { field: "a", type: "quantitative" } } },
        ],
      },
      /loads nothing/,
    ],
    "where it would load a picture": [
      {
        mark: { type: "image", url: "https://example.org/x.png" },
        encoding: { x: { field: "seconds", type: "quantitative" } },
      },
      /loads nothing/,
    ],
  };
  for (const [when, [spec, says]] of Object.entries(refusals)) {
    test(when, async () => {
      await expect(maker.make("bars", spec, rows)).rejects.toThrow(says);
    });
  }

  test("where it has more rows than anybody can look at", async () => {
    const many = Array.from({ length: 6_001 }, (_, index) => ({ arm: "control", seconds: index }));
    await expect(maker.make("bars", bars, many)).rejects.toThrow("aggregate in its query");
  });
});

describe("a field that is called as an arm is", () => {
  test("has the arms' order and looks on every channel", () => {
    const { encoding } = conventional(bars, conventions, rows, 4) as { encoding: Record<string, object> };
    expect(encoding["y"]).toMatchObject({ sort: ["control", "treatment"] });
    expect(encoding["color"]).toMatchObject({
      scale: { domain: ["control", "treatment"], range: ["#66717e", "#c2471b"] },
    });
    expect(encoding["x"]).toEqual({ field: "seconds", type: "quantitative" });
  });

  test("keeps the look of an arm where another has no rows", () => {
    const { encoding } = conventional(bars, conventions, [rows[1]!], 4) as { encoding: Record<string, object> };
    expect(encoding["color"]).toMatchObject({ scale: { domain: ["treatment"], range: ["#c2471b"] } });
  });

  test("gives way to what a spec says itself", () => {
    const own = { ...bars, encoding: { y: { field: "arm", type: "nominal", sort: null } } };
    expect(conventional(own, conventions, rows, 4)).toEqual(own);
  });

  test("goes by another name where that says the same", () => {
    const spec = { encoding: { color: { field: "series", type: "nominal" } } };
    expect(conventional(spec, conventions, rows, 4)).toMatchObject({ encoding: { color: { field: "arm" } } });
  });
});

test("a merge patch adds, replaces and takes away (RFC 7396)", () => {
  expect(patched({ a: "b", c: { d: "e", f: "g" } }, { a: "z", c: { f: null } })).toEqual({ a: "z", c: { d: "e" } });
  expect(patched({ a: [{ b: "c" }] }, { a: [1] })).toEqual({ a: [1] });
  expect(patched(["a", "b"], { c: null, d: 1 })).toEqual({ d: 1 });
  expect(patched({ e: null }, { a: 1 })).toEqual({ e: null, a: 1 });
});
