import { isDay } from './time.js';

/**
 * Parses a value from a URL. Returns undefined if the text cannot be a value of these types.
 *
 * @param types as returned by `typesOf`; if empty, any text is accepted
 */
export function parseScalar(types: readonly string[], text: string): string | number | boolean | undefined {
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const number = types.includes('number')
    ? parseNumber(text)
    : types.includes('integer')
      ? parseInteger(text)
      : undefined;
  if (number !== undefined) return number;
  if (types.includes('date-time')) return fullTime(text);
  return types.length === 0 || types.includes('string') ? text : undefined;
}

/**
 * Parses an integer in the notation of JSON. Returns undefined for any other text, and for integers that are too large
 * to be represented exactly.
 */
export function parseInteger(text: string): number | undefined {
  return /^(?:0|-?[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
}

/** Parses an integer, or a decimal with up to 17 digits before and after the point. Rejects exponents. */
function parseNumber(text: string): number | undefined {
  return /^-?(?:0|[1-9]\d{0,16})\.\d{1,17}$/.test(text) ? Number(text) + 0 : parseInteger(text);
}

/**
 * Completes a time from a URL. A day becomes the start of the day in UTC. A space before the offset becomes `+` again;
 * URL decoding turned it into a space.
 */
function fullTime(text: string): string {
  return isDay(text) ? `${text}T00:00:00Z` : text.replace(/ (?=\d{2}:\d{2}$)/, '+');
}
