import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { escaped, html, inlineJson, printable, trusted } from "../../src/report/html.ts";

describe("html", () => {
  test("takes what is put into it for text, whatever it looks like", () => {
    expect(html`<p title="${`"><script>`}">${"</p>"}</p>`.markup).toBe(
      '<p title="&quot;&gt;&lt;script&gt;">&lt;/p&gt;</p>',
    );
  });

  test("keeps what was made the same way, joins lists, and leaves out what is not there", () => {
    expect(html`${[html`<i>1</i>`, "&", null]}${undefined}${false}${0}`.markup).toBe("<i>1</i>&amp;0");
    expect(html`${trusted("<b>")}`.markup).toBe("<b>");
  });

  test("shows marks that would turn the text around them instead of obeying them", () => {
    expect(escaped("a\u202eb\u2066c\u0000d\u200fe")).toBe("a\ufffdb\ufffdc\ufffdd\ufffde");
    expect(printable("line\n\ttab")).toBe("line\n\ttab");
  });

  test("never lets a text end a tag, an attribute or an entity", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const safe = escaped(text);
        expect(safe).not.toMatch(/[<>"']/);
        expect(safe.replace(/&(?:amp|lt|gt|quot|#39);/g, "")).not.toContain("&");
      }),
    );
  });
});

describe("JSON in a page", () => {
  test("reads back as it was, and cannot end its block", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, text) => {
        const { markup } = inlineJson({ value, text, end: "</script><!--\u2028\u2029" });
        expect(markup).not.toMatch(/[<>&\u2028\u2029]/);
        expect(JSON.parse(markup)).toEqual(
          JSON.parse(JSON.stringify({ value, text, end: "</script><!--\u2028\u2029" })),
        );
      }),
    );
  });
});
