import { describe, expect, test } from "vitest";
import {
  changeIntervalOf,
  changeOf,
  fixed,
  intervalOf,
  plain,
  probability,
  quantity,
  relative,
  shownValue,
} from "../../src/report/numbers.ts";

describe("an estimate", () => {
  test("is shown with the digits that its interval allows", () => {
    const duration = { value: 1253.4, low: 1231.2, high: 1275.6 };
    expect([shownValue(duration, "s"), intervalOf(duration, "s")]).toEqual(["1,253 s", "1,231 to 1,276"]);
    const timeouts = { value: 5.2667, low: 4.581, high: 5.952 };
    expect([shownValue(timeouts, "count"), intervalOf(timeouts, "count")]).toEqual(["5.27", "4.58 to 5.95"]);
  });

  test("of a share is shown in percent, and a difference of shares in points", () => {
    const share = { value: 0.0466, low: 0.0405, high: 0.0527 };
    expect([shownValue(share, "share"), intervalOf(share, "share")]).toEqual(["4.66 %", "4.05 to 5.27"]);
    const change = { value: -0.0457, low: -0.0519, high: -0.0395 };
    expect(changeOf(change, "share")).toBe("−4.57 points");
    expect(changeIntervalOf(change, "share")).toBe("−5.19 to −3.95");
  });

  test("whose interval has no width is shown by its size", () => {
    expect(shownValue({ value: 240, low: 240, high: 240 }, "s")).toBe("240.0 s");
    expect(shownValue({ value: 0, low: 0, high: 0 }, "s")).toBe("0 s");
  });

  test("without an interval says so", () => {
    expect(intervalOf({ value: 3, low: null, high: null }, "s")).toBeNull();
  });
});

test("a relative change has its sign, and beyond tenfold is a factor", () => {
  expect([relative(0.296), relative(-0.04), relative(0), relative(52)]).toEqual(["+30 %", "−4.0 %", "0.0 %", "× 53.0"]);
});

test("numbers have their thousands apart, a true minus, and no minus before nothing", () => {
  expect([fixed(1234567.891, 1), fixed(-1234, 0), fixed(-0.001, 2), fixed(999, 0)]).toEqual([
    "1,234,567.9",
    "−1,234",
    "0.00",
    "999",
  ]);
});

test("a table shows four digits that count, and whole numbers whole", () => {
  expect([plain(23.2567), plain(0.000123456), plain(12345), plain(0.5), plain(1234.5)]).toEqual([
    "23.26",
    "0.000123",
    "12,345",
    "0.5",
    "1,235",
  ]);
});

test("a chance is never said to be none", () => {
  expect([probability(0.00005), probability(0.0161), probability(0.4)]).toEqual(["p < 0.001", "p = 0.016", "p = 0.40"]);
});

test("money is told to the hundredth of a cent where it is little, and never further", () => {
  expect([quantity(0.04123, "USD"), quantity(1.2345, "USD"), quantity(0, "USD")]).toEqual([
    "0.0412 USD",
    "1.23 USD",
    "0 USD",
  ]);
  const cost = { value: 0.04123, low: 0.04119, high: 0.04127 };
  expect([shownValue(cost, "USD"), changeOf(cost, "USD")]).toEqual(["0.0412 USD", "+0.0412 USD"]);
  expect([quantity(258_000, "tokens"), quantity(5, "bytes")]).toEqual(["258,000 tokens", "5.00 bytes"]);
});

test("a quantity has its unit", () => {
  expect([quantity(10.05, "s"), quantity(437, "count"), quantity(1, "share")]).toEqual(["10.05 s", "437.0", "100.0 %"]);
});
