/**
 * Parses an integer in the notation of JSON. Returns undefined for any other text, and for integers that are too large
 * to be represented exactly.
 */
export function parseInteger(text: string): number | undefined {
  return /^(?:0|-?[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
}

/** Parses an integer, or a decimal with up to 17 digits before and after the point. Rejects exponents. */
export function parseNumber(text: string): number | undefined {
  return /^-?(?:0|[1-9]\d{0,16})\.\d{1,17}$/.test(text) ? Number(text) + 0 : parseInteger(text);
}
