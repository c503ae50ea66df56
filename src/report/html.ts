/**
 * HTML that cannot be broken by what is put into it.
 *
 * Everything between `${` and `}` of an `html` template is text and is escaped, unless it is HTML made the same way. Panels are
 * files that people write, so an arm may be called `</script>` and still is only a name.
 */

/** Markup that may stand in a page as it is. Made by `html` and by nothing else but `trusted`. */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
}

type Part = Html | string | number | null | undefined | false | readonly Part[];

/** Strings and numbers become text, `null`, `undefined` and `false` nothing, lists the row of their parts. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let markup = strings[0]!;
  for (const [index, part] of parts.entries()) markup += rendered(part) + strings[index + 1]!;
  return new Html(markup);
}

/** Markup from elsewhere that is known to be whole: a drawn chart, a file of this project. */
export function trusted(markup: string): Html {
  return new Html(markup);
}

function rendered(part: Part): string {
  if (part instanceof Html) return part.markup;
  if (part === null || part === undefined || part === false) return "";
  if (typeof part === "object") return part.map(rendered).join("");
  return escaped(String(part));
}

/** Safe as text and inside a quoted attribute. */
export function escaped(text: string): string {
  return printable(text).replace(/[&<>"']/g, (c) => entities[c]!);
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Without control characters, and without marks that would turn the direction of the text around them: each becomes a
 * visible U+FFFD. Line breaks and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, "\ufffd");
}
const UNPRINTABLE = /[^\P{Cc}\n\t]|[\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** JSON for a data block: no `<` that could end it, and none of the two line ends that JSON and JavaScript see differently. */
export function inlineJson(value: unknown): Html {
  const json = JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return trusted(json);
}
