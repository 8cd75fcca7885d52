const mark = '\u{F0000}';

/** A number as JSON text, where a JavaScript number would lose something: `-0`, `1.0`, 20 digits. */
export function rawNumber(digits: string): string {
  return `${mark}${digits}${mark}`;
}

/** Serializes a value as JSON, with raw numbers unchanged. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(new RegExp(`"${mark}([^"]*)${mark}"`, 'gu'), '$1');
}
