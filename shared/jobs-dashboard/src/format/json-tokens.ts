import { shorten } from '@longshore/edge';
import type { JsonValue } from '@longshore/jobs';
import { ExactNumber, omitted, redact, redacted, type Shown } from '@longshore/jobs/storage';

/** A token of pretty-printed JSON. `kind` determines the colour. */
interface JsonToken {
  readonly kind: 'key' | 'string' | 'number' | 'literal' | 'mark' | 'redacted';
  readonly text: string;
}

export interface JsonText {
  readonly tokens: readonly JsonToken[];
  /** Whether the document has been truncated. */
  readonly cut: boolean;
}

const MAX_DOCUMENT = 64 * 1024;

/**
 * Pretty-prints a document with an indentation of two spaces. Truncates it after `maxCharacters`, by default 65,536.
 */
export function jsonTokens(value: Shown, maxCharacters: number = MAX_DOCUMENT): JsonText {
  const tokens: JsonToken[] = [];
  let room = maxCharacters;
  for (const token of walk(value, '')) {
    if (token.text.length > room) {
      tokens.push({ ...token, text: shorten(token.text, room, '…') });
      return { tokens, cut: true };
    }
    room -= token.text.length;
    tokens.push(token);
  }
  return { tokens, cut: false };
}

/** Formats a document as JSON without truncating it. Redacted values become `"redacted"`, and omitted ones `"…"`. */
export function jsonText(value: Shown): string {
  let text = '';
  for (const token of walk(value, ''))
    text += token.kind === 'redacted' ? JSON.stringify(token.text) : token.text;
  return text;
}

function* walk(value: Shown, indent: string): Generator<JsonToken> {
  if (value === redacted) yield { kind: 'redacted', text: 'redacted' };
  else if (value === omitted) yield { kind: 'redacted', text: '…' };
  else if (value instanceof ExactNumber) yield { kind: 'number', text: value.text };
  else if (Array.isArray(value)) yield* walkArray(value, indent);
  else if (value !== null && typeof value === 'object') yield* walkObject(value, indent);
  else if (typeof value === 'string') yield { kind: 'string', text: JSON.stringify(value) };
  else yield { kind: typeof value === 'number' ? 'number' : 'literal', text: String(value) };
}

function* walkArray(elements: readonly Shown[], indent: string): Generator<JsonToken> {
  if (elements.length === 0) {
    yield { kind: 'mark', text: '[]' };
    return;
  }
  let mark = '[';
  for (const element of elements) {
    yield { kind: 'mark', text: `${mark}\n${indent}  ` };
    yield* walk(element, `${indent}  `);
    mark = ',';
  }
  yield { kind: 'mark', text: `\n${indent}]` };
}

function* walkObject(members: { readonly [key: string]: Shown }, indent: string): Generator<JsonToken> {
  const entries = Object.entries(members);
  if (entries.length === 0) {
    yield { kind: 'mark', text: '{}' };
    return;
  }
  let mark = '{';
  for (const [key, member] of entries) {
    yield { kind: 'mark', text: `${mark}\n${indent}  ` };
    yield { kind: 'key', text: JSON.stringify(key) };
    yield { kind: 'mark', text: ': ' };
    yield* walk(member, `${indent}  `);
    mark = ',';
  }
  yield { kind: 'mark', text: `\n${indent}}` };
}

const MAX_LINE = 160;

/**
 * Formats arguments as one line for a list: `orderId: 90071, currency: "EUR"`. Marks integers that may have lost digits
 * with `≈`. Returns an empty string if there are no arguments.
 *
 * @param pattern matches keys whose values are redacted
 */
export function argsLine(args: JsonValue, pattern: RegExp): string {
  const { tokens } = jsonTokens(redact(args, pattern), 2 * MAX_LINE);
  const inner = tokens.length > 2 && tokens[0]?.text.startsWith('{') ? tokens.slice(0, -1) : tokens;
  const text = inner
    .map(({ kind, text: token }, index) => {
      if (kind === 'mark')
        return index === 0 ? '' : token.replaceAll(/\n\s*/g, token.startsWith(',') ? ' ' : '');
      if (kind === 'key') return token.slice(1, -1);
      return kind === 'number' && !Number.isSafeInteger(Number(token)) && /^-?\d+$/.test(token)
        ? `≈${token}`
        : token;
    })
    .join('');
  return text === '{}' || text === 'null' ? '' : shorten(text, MAX_LINE, '…');
}
