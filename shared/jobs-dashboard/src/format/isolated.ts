import ejs from 'ejs';

/** Matches characters of scripts that are written from right to left, and characters that change the direction of text. */
const changesDirection =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * Returns a value as HTML that does not change the order of what stands around it. Text that may run from right to left
 * is an element `bdi`; other text, which is nearly all of it, needs none.
 */
export function isolated(value: unknown): string {
  const text = ejs.escapeXML(value);
  return changesDirection.test(text) ? `<bdi>${balanced(text)}</bdi>` : text;
}

const isolates = '\u2066\u2067\u2068';
const end = '\u2069';

/**
 * Removes the ends of isolates that the text does not begin, and ends those that it does not end. Browsers treat an
 * element as an isolate of its own, which such characters would end too early or keep open.
 */
function balanced(text: string): string {
  let open = 0;
  const kept = text.replaceAll(/[\u2066-\u2069]/g, (mark) => {
    if (isolates.includes(mark)) open += 1;
    else if (open === 0) return '';
    else open -= 1;
    return mark;
  });
  return kept + end.repeat(open);
}

/** Elements whose content is text, in which a browser would show `<bdi>` literally. */
const textOnly = /<(title|textarea|option|script|style)\b[^<]*$/i;

/**
 * Rewrites a template so that everything that it shows as text is isolated. Attributes, and elements that can contain
 * only text, stay as they are.
 */
export function withIsolatedTexts(template: string): string {
  let html = '';
  return template.replaceAll(
    /<%(?<kind>[=_-]?)(?<code>(?:(?!%>)[^])*?)(?<end>[_-]?)%>|[^<]+|</g,
    (part, ...groups) => {
      const {
        kind,
        code = '',
        end: closing = '',
      } = groups.at(-1) as Readonly<Record<string, string | undefined>>;
      if (!part.startsWith('<%')) {
        html += part;
        return part;
      }
      const isInTag = html.lastIndexOf('<') > html.lastIndexOf('>');
      if (kind !== '=' || isInTag || textOnly.test(html)) return part;
      return `<%- it.isolated(${code.trim()}) ${closing}%>`;
    },
  );
}
