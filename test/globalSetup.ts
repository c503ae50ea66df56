/** The command line is tested as it ships, so what ships is built first. Faults of types are `npm run check`'s business. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export default function setup(): void {
  const root = fileURLToPath(new URL("..", import.meta.url));
  spawnSync(process.execPath, ["node_modules/typescript/bin/tsc"], { cwd: root, stdio: "ignore" });
}
