/** The policy core as other runtimes use it: `import { autoAwait } from "yieldpoint/policy"`. No dependencies. */
export * from "./budget.ts";
export * from "./command.ts";
export * from "./guidance.ts";
export * from "./hold.ts";
export * from "./notice.ts";
export * from "./risk.ts";
export * from "./settings.ts";
export * from "./time.ts";
export * from "./timeout.ts";
