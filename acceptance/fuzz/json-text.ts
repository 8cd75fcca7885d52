const mark = '\u{F0000}';

/**
 * Returns a stand-in for a number that JavaScript would not serialize with these digits, such as `-0`, `1.0` or 20
 * digits.
 */
export function rawNumber(digits: string): string {
  return `${mark}${digits}${mark}`;
}

/** Serializes a value as JSON, with the digits of each {@link rawNumber} unchanged. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(new RegExp(`"${mark}([^"]*)${mark}"`, 'gu'), '$1');
}
