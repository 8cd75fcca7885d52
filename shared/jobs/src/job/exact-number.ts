/**
 * A decimal number with at most this many significant digits survives the conversion to a JavaScript number (IEEE 754,
 * binary64) and back, provided that it is not extremely large or small.
 */
const maxExactDigits = 15;

/**
 * Returns whether a JSON number keeps its value when JavaScript parses it: `7`, `1.50` and `1e3` do, but
 * `9007199254740993` and `1e400` do not.
 */
export function isExactNumber(literal: string): boolean {
  const number = Number(literal);
  if (String(number) === literal) return true;
  const digits = literal.replace(/e.*/i, '').replaceAll(/[-.]/g, '').replace(/^0+/, '');
  const size = Math.abs(number);
  return digits === '' || (digits.length <= maxExactDigits && size >= 1e-300 && size <= 1e300);
}
