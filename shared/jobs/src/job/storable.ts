import { shorten, toStorable } from '@longshore/edge';

/**
 * Converts a value to text that Postgres can store. Truncates the text to `maxLength` characters, and replaces NUL and
 * unpaired surrogates. Never throws.
 */
export function storable(text: unknown, maxLength: number): string {
  return toStorable(shorten(printed(text), maxLength));
}

/**
 * Converts a value to text. Never throws: returns a fixed text for a value that cannot be converted, such as an object
 * without a prototype.
 */
export function printed(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'a value that cannot be printed';
  }
}
