/** `run` of the headline panel in a process of its own, report and all; prints its peak resident memory in megabytes. */
import { join } from "node:path";

const [root, replicates, out] = process.argv.slice(2);
// As built for use: the program looks for its package beside itself.
const { run } = (await import(join(root!, "dist/cli/run.js"))) as typeof import("../../src/cli/run.ts");
await run.does(
  { _: ["run"], panel: join(root!, "panels/deepswe-headline.yaml"), replicates, out },
  { stdout: process.stderr, stderr: process.stderr, environment: process.env, words: ["run"] },
);
process.stdout.write(`${Math.round(process.resourceUsage().maxRSS / 1_024)}\n`);
