/** Policies side by side, and one decision of one of them. */
import { describe, expect, test } from "vitest";
import { yieldpoint } from "../program.ts";

describe("policies --diff", () => {
  test("is a table of the settings that differ, and no others", () => {
    const { code, stdout, stderr } = yieldpoint(["policies", "--diff", "fast-agent-240", "fast-agent-30"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n").map((line) => line.trim().split(/\s{2,}/))).toEqual([
      ["setting", "fast-agent-240", "fast-agent-30"],
      ["foreground_auto_await_max_seconds", "240", "30"],
      [""],
    ]);
  });

  test("is an object for a program", () => {
    const { code, stdout } = yieldpoint(["policies", "--diff", "control", "treatment", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      policies: ["control", "treatment"],
      differences: [{ setting: "foreground_auto_await_max_seconds", values: [0, 240] }],
    });
  });

  test("of a policy with itself says that nothing differs", () => {
    expect(yieldpoint(["policies", "--diff", "gaia", "gaia"]).stdout).toBe("gaia and gaia differ in no setting\n");
  });

  test("refuses both names at once, each with the one that was probably meant", () => {
    const { code, stdout, stderr } = yieldpoint(["policies", "--diff", "gaja", "contorl"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/gaja: there is no policy of that name .*; did you mean gaia\?/);
    expect(stderr).toMatch(/contorl: there is no policy of that name .*; did you mean control\?/);
  });

  test.each([
    [["--diff", "gaia"], /--diff is given gaia alone: name another policy after it/],
    [["--diff", "gaia", "control", "shipped"], /shipped is one word too many/],
    [["--diff"], /--diff|diff/],
  ])("refuses %j", (words, says) => {
    const { code, stdout, stderr } = yieldpoint(["policies", ...words]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(says);
  });
});

describe("explain --command", () => {
  test("says class and timeout under a policy that goes by class", () => {
    const { code, stdout, stderr } = yieldpoint(["explain", "--command", "pytest -q", "--policy", "gaia"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n").slice(0, 3)).toEqual([
      "policy gaia",
      "pytest -q is of class test, whose hard timeout is 900 s (hard_timeout_by_class).",
      "It is held until it ends; 900 s after its start it is ended with all it has started. A timeout named in the call wins.",
    ]);
  });

  test("says the same to a program", () => {
    const { stdout } = yieldpoint(["explain", "--command", "npm ci && pytest", "--policy", "gaia", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      policy: "gaia",
      decision: "hard_timeout",
      command_class: "build",
      hard_timeout_seconds: 1_800,
      effective_seconds: 1_800,
      clamp_reasons: [],
    });
  });
});
