const mark = '\u{F0000}';

/**
 * Returns a stand-in for a number whose digits `JSON.stringify` would change, such as `-0` or `1.0`. {@link jsonText}
 * replaces the stand-in with the digits.
 */
export function rawNumber(digits: string): string {
  return `${mark}${digits}${mark}`;
}

/** Serializes a value as JSON, with the digits of each {@link rawNumber} unchanged. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(new RegExp(`"${mark}([^"]*)${mark}"`, 'gu'), '$1');
}
