/** What the design note asks for, in the world that is simulated. */
import { alone } from "./aRun.ts";
import { acceptance } from "./conformance/acceptance.ts";

acceptance("simulated", (candidate) => alone(candidate));
