/** What the README shows is what the program does. `npm run journals` writes the shown output anew. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expected, settingKeys, settingsTable } from "../src/policy/settings.ts";
import { root, writing, yieldpoint } from "./program.ts";

const path = join(root, "README.md");
const shown = /<!-- run: (.+) -->\n```\n([\s\S]*?)```/g;
const settings = /<!-- settings -->\n([\s\S]*?)<!-- \/settings -->/;

if (writing) {
  const text = readFileSync(path, "utf8")
    .replace(shown, (_, command: string) => `<!-- run: ${command} -->\n\`\`\`\n${said(command)}\`\`\``)
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

function settingsInWords(): string {
  const rows = settingKeys.map((key) => {
    const setting = settingsTable[key];
    return `| \`${key}\` | ${setting.default} | ${expected(setting)} | ${setting.says} |\n`;
  });
  return `| setting | default | takes | says |\n| --- | --- | --- | --- |\n${rows.join("")}`;
}
