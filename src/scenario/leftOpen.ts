/** What a policy leaves open: questions that every builder of a runtime answers, wittingly or not. Advice, not faults. */
import { sliceOf } from "../policy/hold.ts";
import { type Settings, settingsOf, type WrittenSettings } from "../policy/settings.ts";
import { inSeconds } from "../policy/time.ts";

/** The rest of sentences that begin with the policy's file. */
export function leftOpen(written: WrittenSettings): readonly string[] {
  const settings = settingsOf(written);
  const { totalTimeout, inactivityKill, backgroundWatchdog } = settings;
  const hasWatchdog = totalTimeout !== null || inactivityKill !== null || backgroundWatchdog !== null;
  return [
    ...(settings.withoutReader === "ignore"
      ? ["starts commands in the background for a model that has no tool to read what comes of them (without_reader)"]
      : []),
    ...(hasWatchdog
      ? []
      : [
          "has no watchdog: what never ends in the background runs as long as the session (background_watchdog_seconds)",
        ]),
    ...(settings.completionNotice === "none"
      ? ["tells nobody that a background command is over: whoever wants to know has to look (completion_notice)"]
      : []),
    ...outlivesCache(settings),
  ];
}

/** Where the lifetime of the prompt cache is stated, and a wait may outlive it. */
function outlivesCache(settings: Settings): readonly string[] {
  const { cacheLifetime: lifetime, processPollMaxWait, maxHold } = settings;
  if (lifetime === null || settings.cacheAwareSlice) return [];
  const longest = Math.min(
    ...[sliceOf(settings, null, null), processPollMaxWait, maxHold].map((bound) => bound ?? Number.POSITIVE_INFINITY),
  );
  if (longest < lifetime) return [];
  return [
    `grants waits longer than the prompt cache lives, ${inSeconds(lifetime)} s: what is asked after one pays for the whole prompt again`,
  ];
}
