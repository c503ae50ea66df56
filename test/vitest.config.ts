import { defineConfig } from "vitest/config";

/** Tests that the machine's own time or processes decide. They run last, one file at a time, so that nothing hurries them. */
const realTime = ["test/conformance/real.test.ts", "test/world/children.test.ts", "test/serve/**/*.test.ts"];

export default defineConfig({
  root: new URL("..", import.meta.url).pathname,
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default", "./test/reporter.ts"],
    globalSetup: ["./test/globalSetup.ts"],
    setupFiles: ["./test/setup.ts"],
    env: { NO_COLOR: "1" },
    projects: [
      {
        extends: true,
        test: { name: "own time", include: ["test/**/*.test.ts"], exclude: realTime, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: {
          name: "real time",
          include: realTime,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          maxConcurrency: 4,
          // A shared machine may be late for once; who is late every time is at fault.
          retry: 4,
        },
      },
    ],
  },
});
