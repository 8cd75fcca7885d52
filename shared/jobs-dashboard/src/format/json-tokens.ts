import { shorten } from '@longshore/edge';
import { ExactNumber, omitted, redacted, type Shown } from '@longshore/jobs/storage';

/** A token of pretty-printed JSON. `kind` determines the colour. */
export interface JsonToken {
  readonly kind: 'key' | 'string' | 'number' | 'literal' | 'mark' | 'redacted';
  readonly text: string;
}

export interface JsonText {
  readonly tokens: readonly JsonToken[];
  /** Whether the document has been truncated. */
  readonly cut: boolean;
}

const MAX_CHARACTERS = 64 * 1024;

/**
 * Pretty-prints a document with an indentation of two spaces. Truncates it after `maxCharacters`, by default 65,536.
 */
export function jsonTokens(value: Shown, maxCharacters: number = MAX_CHARACTERS): JsonText {
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
