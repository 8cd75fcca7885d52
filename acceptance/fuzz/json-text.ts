const mark = '\u{F0000}';

/** A number as JSON text has it, where JavaScript's own would lose something: `-0`, `1.0`, 20 digits. */
export function rawNumber(digits: string): string {
  return `${mark}${digits}${mark}`;
}

/** A value as JSON text, raw numbers as they are. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(new RegExp(`"${mark}([^"]*)${mark}"`, 'gu'), '$1');
}
