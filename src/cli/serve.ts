/** `serve`: the shell tools for a real agent, over the Model Context Protocol on stdin and stdout. */
import type { Command } from "./command.ts";
import { UsageError } from "./exit.ts";
import { serveFlags, termsOf } from "./serveTerms.ts";

export const serve: Command = {
  usage: "serve",
  says: "serve the shell tools to a real agent: an MCP server on stdin and stdout",
  flags: serveFlags,
  examples: [
    ["serve --policy budgeted --run-budget-seconds 5400", "a run of 90 minutes, its last 600 s kept for finishing"],
    ["serve --policy my-policy.yaml --out out/session-1", "a policy of one's own; telemetry in out/session-1"],
    ["report out/session-1", "what that session was held for"],
  ],
  async does(argv, outside) {
    if (process.platform === "win32") {
      throw new UsageError("serve needs process groups, which Windows does not have: run it under WSL");
    }
    const terms = termsOf(argv, outside);
    // The protocol's own library takes a while to load: only those who serve wait for it.
    const { served } = await import("./served.ts");
    return served(terms, outside);
  },
};
