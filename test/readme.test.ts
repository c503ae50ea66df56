/** What the README shows is what the program does. `npm run journals` writes the shown output anew. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expected, settingKeys, settingsTable } from "../src/policy/settings.ts";
import { loadPanel } from "../src/scenario/load.ts";
import { type ArmFigures, figuresOf } from "./experiment/figures.ts";
import { root, writing, yieldpoint } from "./program.ts";

const path = join(root, "README.md");
const shown = /<!-- run: (.+) -->\n```\n([\s\S]*?)```/g;
const figures = /<!-- figures -->\n([\s\S]*?)<!-- \/figures -->/;
const panels = /<!-- panel: (.+) -->\n```\n([\s\S]*?)```/g;
const settings = /<!-- settings -->\n([\s\S]*?)<!-- \/settings -->/;

if (writing) {
  const text = readFileSync(path, "utf8")
    .replace(shown, (_, command: string) => `<!-- run: ${command} -->\n\`\`\`\n${said(command)}\`\`\``)
    .replace(panels, (_, panel: string) => `<!-- panel: ${panel} -->\n\`\`\`\n${answered(panel)}\`\`\``)
    .replace(figures, () => `<!-- figures -->\n${figuresInWords()}<!-- /figures -->`)
    .replace(settings, () => `<!-- settings -->\n${settingsInWords()}<!-- /settings -->`);
  writeFileSync(path, text);
}

const readme = readFileSync(path, "utf8");

describe("the README", () => {
  const commands = [...readme.matchAll(shown)];

  test("shows three journals and an explanation, at least", () => {
    expect(commands.length).toBeGreaterThanOrEqual(4);
  });

  test.each(commands.map(([, command, output]) => [command!, output!]))("shows what `%s` prints", (command, output) => {
    expect(output).toBe(said(command));
  });

  test("quotes the figures that the headline panel gives", () => {
    expect(readme.match(figures)?.[1]).toBe(figuresInWords());
  }, 60_000);

  test.each([...readme.matchAll(panels)].map(([, panel, answer]) => [panel!, answer!]))(
    "quotes what running %s answers",
    (panel, answer) => expect(answer).toBe(answered(panel)),
    60_000,
  );

  test("lists the settings as the table has them", () => {
    expect(readme.match(settings)?.[1]).toBe(settingsInWords());
  });

  test("names commands that exist, with flags that exist", () => {
    const mentioned = [...readme.matchAll(/`yieldpoint ([a-z]+)([^`]*)`/g)];
    expect(mentioned.length).toBeGreaterThan(5);
    for (const [, command, rest] of mentioned) {
      const help = yieldpoint([command!, "--help"]).stdout;
      expect(help, command).toContain(`yieldpoint ${command}`);
      for (const [flag] of rest!.matchAll(/--[a-z-]+/g)) expect(help, `${command} ${flag}`).toContain(flag);
    }
  });
});

function said(command: string): string {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
  const { code, stdout, stderr } = yieldpoint(words);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return stdout;
}

/** What a run says in the end, from the panel's question to its verdicts, without the paths. */
function answered(panel: string): string {
  const out = mkdtempSync(join(tmpdir(), "yieldpoint-readme-"));
  try {
    const { stdout } = yieldpoint(["run", panel, "--out", out]);
    const { question } = loadPanel(panel);
    const answer = stdout.slice(stdout.indexOf(question), stdout.indexOf(out)).trimEnd();
    expect(answer).toContain(question);
    return `${answer
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")}\n`;
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** What was published for the runtime that an arm stands for; nothing was for the budgeted one. */
function figuresInWords(): string {
  const { control, treatment, budgeted } = figuresOf(loadPanel("deepswe-headline")) as Record<string, ArmFigures>;
  const row = (says: string, published: string, figure: (arm: ArmFigures) => string) =>
    `| ${says} | ${published} | ${[control!, treatment!, budgeted!].map(figure).join(" | ")} |\n`;
  const change = ({ duration }: ArmFigures) => `${((duration / control!.duration - 1) * 100).toFixed(0)} %`;
  return [
    "| per world of 113 trials | published | control | treatment | budgeted |\n| --- | --- | --- | --- | --- |\n",
    row("commands handed back running", "437 · 29, 33", ({ returnedRunning }) => returnedRunning.toFixed(0)),
    row("median time at return (s)", "10.05 · 240.00", ({ medianAtReturn }) => medianAtReturn.toFixed(2)),
    row("wait and status calls", "490 · 49, 40", ({ waitActions }) => waitActions.toFixed(0)),
    row("trials using the process tool", "98 · 27, 32", ({ users }) => users.toFixed(0)),
    row("trials lost to the outer limit", "0 · 9 in two runs", ({ timeouts }) => timeouts.toFixed(1)),
    row("mean duration against control", "+28 to +31 %", change),
  ].join("");
}

function settingsInWords(): string {
  const rows = settingKeys.map((key) => {
    const setting = settingsTable[key];
    return `| \`${key}\` | ${setting.default} | ${expected(setting)} | ${inCell(setting.says)} |\n`;
  });
  return `| setting | default | takes | says |\n| --- | --- | --- | --- |\n${rows.join("")}`;
}

/** A bar would end the cell. */
function inCell(text: string): string {
  return text.replaceAll("|", "\\|");
}
