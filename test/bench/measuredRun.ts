/** One run of the headline panel in a process of its own; prints its peak resident memory in megabytes. */
import { join } from "node:path";
import { conductAndKeep, dictionariesOf } from "../../src/cli/keep.ts";
import { loadPanel } from "../../src/scenario/load.ts";
import { openStore } from "../../src/telemetry/store.ts";
import { TABLES } from "../../src/telemetry/tables.ts";

const [root, replicates, out] = process.argv.slice(2);
const panel = loadPanel(join(root!, "panels/deepswe-headline.yaml"), { replicates: Number(replicates) });
const store = await openStore(join(out!, "experiment.duckdb"), TABLES, dictionariesOf(panel, "bench"));
await conductAndKeep({ panel, detail: "calls", experimentId: "bench", store, onWorld: async () => true });
await store.close();
process.stdout.write(`${Math.round(process.resourceUsage().maxRSS / 1_024)}\n`);
