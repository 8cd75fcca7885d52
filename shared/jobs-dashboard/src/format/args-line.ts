import { shorten } from '@longshore/edge';
import type { JsonValue } from '@longshore/jobs';
import { jsonTokens } from './json-tokens.js';
import { redact } from '@longshore/jobs/storage';

const MAX_CHARACTERS = 160;

/**
 * Formats arguments as one line for a list: `orderId: 90071, currency: "EUR"`. Marks integers that may have lost digits
 * with `≈`. Returns an empty string if there are no arguments.
 *
 * @param pattern matches keys whose values are redacted
 */
export function argsLine(args: JsonValue, pattern: RegExp): string {
  const { tokens } = jsonTokens(redact(args, pattern), 2 * MAX_CHARACTERS);
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
  return text === '{}' || text === 'null' ? '' : shorten(text, MAX_CHARACTERS, '…');
}
