/** A folder of its own for each test file, gone afterwards. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "yieldpoint-report-"));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
