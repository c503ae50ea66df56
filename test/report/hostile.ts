/** Names that a panel may have and a page must survive. */
import type { Synthetic, SyntheticArm } from "./synthetic.ts";

const like = (arm: string, cap: number, habit: "short" | "long", told = false): SyntheticArm => ({
  arm,
  says: `</p><script>window.hacked = "says"</script> & "${arm.slice(0, 20)}"`,
  cap,
  habit,
  slice: told ? 240 : null,
  told,
});

export const HOSTILE_ARMS = [
  like(`</script><script>window.hacked = "arm"</script>`, 0, "short"),
  like(`"'><img src=x onerror="window.hacked='image'">\u202Egnp.evil\u2066`, 240, "long"),
  like("a".repeat(10_000), 240, "long", true),
  like("__proto__", 0, "short"),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a name that looks like one
  like("datum['x'] {{ $arm }} ${arm} <!-- ]]> \u2028", 240, "short"),
] as const;

export const HOSTILE: Synthetic = {
  panel: `</title><script>window.hacked = "panel"</script>`,
  question: `Does <b>this</b> "hold"? </h1><script>window.hacked = "question"</script> {panel} \u202Eesrever`,
  arms: HOSTILE_ARMS,
  tasks: 8,
  replicates: 4,
  command: `pytest -q "</script><script>window.hacked = 'command'</script>"`,
  hypotheses: [
    { measure: "outer_timeout", arm: HOSTILE_ARMS[1].arm, against: HOSTILE_ARMS[0].arm, expect: "higher" },
    { measure: "duration_seconds", arm: HOSTILE_ARMS[3].arm, against: HOSTILE_ARMS[2].arm, expect: "lower" },
  ],
  published: [
    { arm: HOSTILE_ARMS[2].arm, against: HOSTILE_ARMS[0].arm, measure: "duration_seconds", low: 0.1, high: 0.2 },
  ],
  caveats: [`</li><script>window.hacked = "caveat"</script>`],
  exhibits: [`</h3><script>window.hacked = "exhibit"</script>`],
};
