/** Writes world after world into the file it is given and says which are kept, until somebody kills it. */
import { fileURLToPath } from "node:url";
import { createServer } from "vite";

const server = await createServer({
  configFile: false,
  root: fileURLToPath(new URL("../..", import.meta.url)),
  appType: "custom",
  server: { middlewareMode: true, ws: false, watch: null },
});
const { openStore } = await server.ssrLoadModule("/src/telemetry/store.ts");
const { calls, trials, worldOf } = await server.ssrLoadModule("/test/telemetry/wholeWorlds.ts");

const store = await openStore(process.argv[2], [trials, calls], {});
for (let world = 0; ; world += 1) {
  await store.appendWorlds(worldOf(world));
  process.stdout.write(`${world}\n`);
}
