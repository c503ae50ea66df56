import { describe, expect, test } from "vitest";
import type { WrittenSettings } from "../../src/policy/settings.ts";
import { leftOpen } from "../../src/scenario/leftOpen.ts";
import { lintFile } from "../../src/scenario/lint.ts";
import { packageRoot } from "../../src/scenario/names.ts";

const READER =
  "starts commands in the background for a model that has no tool to read what comes of them (without_reader)";
const WATCHDOG =
  "has no watchdog: what never ends in the background runs as long as the session (background_watchdog_seconds)";
const NOTICE = "tells nobody that a background command is over: whoever wants to know has to look (completion_notice)";
const cache = (lifetime: number) =>
  `grants waits longer than the prompt cache lives, ${lifetime} s: what is asked after one pays for the whole prompt again`;

const closed: WrittenSettings = {
  without_reader: "foreground_only",
  background_watchdog_seconds: 3_600,
  completion_notice: "next_step",
};

describe("a policy leaves open", () => {
  test.each<readonly [string, WrittenSettings, readonly string[]]>([
    ["all but the cache, as shipped", {}, [READER, WATCHDOG, NOTICE]],
    ["nothing, if it answers everything", closed, []],
    [
      "no watchdog question, if silence ends what hangs",
      { ...closed, background_watchdog_seconds: "none", inactivity_kill_seconds: 300 },
      [],
    ],
    ["or a total timeout does", { ...closed, background_watchdog_seconds: "none", total_timeout_seconds: 300 }, []],
    ["waits beyond a cache of 300 s", { ...closed, cache_lifetime_seconds: 300 }, [cache(300)]],
    ["none that are sliced below it", { ...closed, cache_lifetime_seconds: 300, process_wait_slice_seconds: 240 }, []],
    ["none that mind the cache", { ...closed, cache_lifetime_seconds: 300, cache_aware_slice: true }, []],
  ])("%s", (_, settings, expected) => {
    expect(leftOpen(settings)).toEqual(expected);
  });

  test.each([
    ["codex", [READER, WATCHDOG, NOTICE]],
    ["kimi-code", []],
    ["gemini-cli", [READER, NOTICE]],
  ] as const)("what lint says of %s", (name, expected) => {
    const path = `${packageRoot}/panels/policies/${name}.yaml`;
    expect(lintFile(path)).toEqual({
      kind: "policy",
      faults: [],
      warnings: expected.map((says) => `${path}: ${says}`),
    });
  });
});
