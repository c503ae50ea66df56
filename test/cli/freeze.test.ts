/** A panel that was frozen is run as it was, or not at all. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EngineDiffers, Tampered } from "../../src/cli/exit.ts";
import { changedSince, freeze, verified } from "../../src/cli/frozen.ts";
import type { Lock } from "../../src/experiment/lock.ts";
import { FileFaults } from "../../src/scenario/fault.ts";
import { root, yieldpoint } from "../program.ts";

let folder = "";
let panel = "";
let lockFile = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "yieldpoint-freeze-"));
  for (const each of ["panels", "scenarios"]) cpSync(join(root, each), join(folder, each), { recursive: true });
  panel = join(folder, "panels", "mine.yaml");
  cpSync(join(root, "panels", "deepswe-headline.yaml"), panel);
  lockFile = join(folder, "panels", "mine.lock.json");
  freeze(panel, new Date("2026-12-01T00:00:00Z"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const lock = () => JSON.parse(readFileSync(lockFile, "utf8")) as Lock;

/** What is thrown while a file has other bytes; they are put back. */
function thrownWith(path: string, bytes: Uint8Array | null): unknown {
  const before = readFileSync(path);
  try {
    if (bytes === null) rmSync(path);
    else writeFileSync(path, bytes);
    verified(panel);
    return null;
  } catch (error) {
    return error;
  } finally {
    writeFileSync(path, before);
  }
}

describe("a lock", () => {
  test("names the panel and every file it resolves to, its seed, its hypotheses and how they are judged", () => {
    const { files, ...rest } = lock();
    expect(files.map(({ path, of }) => `${of}: ${path}`)).toEqual([
      "panel: ../scenarios/deepswe-like.yaml",
      "panel: ../scenarios/hung-test-run.yaml",
      "panel: arms.yaml",
      "panel: mine.yaml",
      "panel: policies/budgeted.yaml",
      "panel: policies/control.yaml",
      "panel: policies/treatment.yaml",
      "panel: profiles/long.yaml",
      "panel: profiles/short.yaml",
    ]);
    expect(rest).toMatchObject({
      lock: 1,
      panel: "deepswe-headline",
      frozen_at: "2026-12-01T00:00:00.000Z",
      seed: 1,
      replicates: 30,
      analysis: { family: "Holm over all hypotheses that are estimated", level: 0.05, confidence: 0.95 },
    });
    expect(rest.hypotheses.length).toBeGreaterThan(0);
    expect(verified(panel).panel.panel).toBe("deepswe-headline");
  });

  test("knows of any byte of any file that was changed, and names the file, whatever the file says then", () => {
    const { files } = lock();
    fc.assert(
      fc.property(fc.constantFrom(...files), fc.nat(), fc.integer({ min: 1, max: 255 }), ({ path }, where, change) => {
        const file = join(folder, "panels", path);
        const bytes = readFileSync(file);
        bytes[where % bytes.length]! ^= change;
        const error = thrownWith(file, bytes);
        expect(error).toBeInstanceOf(Tampered);
        expect((error as Tampered).files).toHaveLength(1);
        expect((error as Tampered).message).toContain(`TAMPERED  ${path}: it was `);
      }),
      { numRuns: 200 },
    );
  });

  test("knows of a file that is gone, and of one that has come to lie nearer", () => {
    expect((thrownWith(join(folder, "panels", "profiles", "long.yaml"), null) as Tampered).message).toMatch(
      /TAMPERED {2}profiles\/long\.yaml: .* is gone/,
    );
    const nearer = join(folder, "panels", "long.yaml");
    cpSync(join(folder, "panels", "profiles", "long.yaml"), nearer);
    try {
      expect(() => verified(panel)).toThrow(
        /TAMPERED {2}long\.yaml: the panel resolves to it now, and did not when it was frozen/,
      );
    } finally {
      rmSync(nearer);
    }
  });

  test("that was changed itself is found out by what the panel says", () => {
    for (const change of [{ seed: 2 }, { replicates: 300 }, { hypotheses: [] }, { analysis: { level: 0.5 } }]) {
      const error = thrownWith(lockFile, Buffer.from(JSON.stringify({ ...lock(), ...change })));
      expect(error).toBeInstanceOf(Tampered);
      expect((error as Tampered).message).toContain(`: ${Object.keys(change)[0]} is `);
    }
  });

  test("that cannot be read is a fault of that file, every one at once", () => {
    const { files, ...rest } = lock();
    const bad = { ...rest, lock: 2, files: [{ ...files[0]!, sha256: "abc" }], more: 1 };
    for (const [content, count] of [
      [JSON.stringify(bad), 3],
      ["{", 1],
      ["null", 1],
    ] as const) {
      const error = thrownWith(lockFile, Buffer.from(content));
      expect(error).toBeInstanceOf(FileFaults);
      expect((error as FileFaults).faults).toHaveLength(count);
      for (const fault of (error as FileFaults).faults)
        expect(fault).toMatch(/mine\.lock\.json: .*freeze the panel again$/);
    }
  });
});

describe("a panel frozen with another version", () => {
  /** As if that version had shipped another `budgeted`. */
  const older = (): Lock => ({
    ...lock(),
    engine: "0.0.9",
    files: [...lock().files, { path: "panels/policies/budgeted.yaml", of: "package", sha256: "0".repeat(64) }],
  });

  test("is not taken for tampered with where what ships has changed, and can be reported", () => {
    expect(thrownWith(lockFile, Buffer.from(JSON.stringify(older())))).toBeInstanceOf(EngineDiffers);
    expect(changedSince(older(), panel)).toEqual([]);
    expect(changedSince({ ...older(), engine: lock().engine }, panel)).toEqual([
      expect.stringContaining("TAMPERED  panels/policies/budgeted.yaml"),
    ]);
  });

  test("is tampered with where a file of its own has changed", () => {
    const files = older().files.map((each) => (each.path === "mine.yaml" ? { ...each, sha256: "1".repeat(64) } : each));
    const changed = { ...older(), files };
    expect((thrownWith(lockFile, Buffer.from(JSON.stringify(changed))) as Tampered).files).toHaveLength(1);
    expect(changedSince(changed, panel)).toEqual([expect.stringContaining("TAMPERED  mine.yaml")]);
  });
});

describe("the program", () => {
  const out = () => join(folder, "out");
  const run = (...words: readonly string[]) =>
    yieldpoint(["run", "panels/mine.yaml", "--frozen", "--out", out(), ...words], { cwd: folder });

  test("runs what is frozen and says so on the page, then refuses it, and its report, once a byte has changed", () => {
    expect(run("--detail", "trials").code).toBe(0);
    const page = readFileSync(join(out(), "report.html"), "utf8");
    expect(page).toContain("PASS, every byte as it was");
    const written = readdirSync(out()).map((file) => [file, readFileSync(join(out(), file)).length]);
    const report = () => yieldpoint(["report", "out"], { cwd: folder });
    expect(report().code).toBe(0);

    const profile = join(folder, "panels", "profiles", "long.yaml");
    const before = readFileSync(profile);
    writeFileSync(profile, `${before.toString()} `);
    for (const ended of [run(), report(), yieldpoint(["freeze", "panels/mine.yaml", "--check"], { cwd: folder })]) {
      expect(ended.code).toBe(3);
      expect(ended.stderr).toContain("TAMPERED  profiles/long.yaml");
      expect(ended.stdout).toBe("");
    }
    expect(readdirSync(out()).map((file) => [file, readFileSync(join(out(), file)).length])).toEqual(written);
    writeFileSync(profile, before);
    expect(report().code).toBe(0);
  });

  test("refuses every flag that would make another panel of it, at once", () => {
    const { code, stderr } = run(
      "--seed",
      "2",
      "--replicates",
      "5",
      "--set",
      "control.foreground_auto_await_max_seconds=1",
    );
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /--seed is 2 beside --frozen: expected 1.*\n.*--replicates is 5 beside --frozen: expected 30.*\n.*--set control/,
    );
  });

  test("wants a panel frozen before it is run as frozen", () => {
    const ended = yieldpoint(["run", "panels/cap-by-habit.yaml", "--frozen", "--out", join(folder, "none")], {
      cwd: folder,
    });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain("is not frozen; yieldpoint freeze panels/cap-by-habit.yaml writes it");
    expect(existsSync(join(folder, "none"))).toBe(false);
  });

  test("says that the engine differs, and runs nothing", () => {
    const kept = readFileSync(lockFile);
    writeFileSync(lockFile, JSON.stringify({ ...lock(), engine: "0.0.9" }));
    const { code, stderr } = run();
    writeFileSync(lockFile, kept);
    expect(code).toBe(4);
    expect(stderr).toMatch(/engine differs: .* was frozen with yieldpoint 0\.0\.9, and this is \d/);
  });
});

test("the lock that ships stands", () => {
  const { code, stdout } = yieldpoint(["freeze", "panels/long-tail.yaml", "--check"]);
  expect(stdout).toContain("✓ PASS  long-tail is as it was frozen");
  expect(code).toBe(0);
});
