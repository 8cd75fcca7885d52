/**
 * Stands in generated requests for values that are known only when the request is sent: an id from the service, a
 * cursor, the time. Private-use characters, which nothing else generates, distinguish it from other text.
 */
const open = '\u{F0001}';
const close = '\u{F0002}';
const pattern = new RegExp(`${open}(\\w+):(-?\\d+)${close}`, 'gu');

/** `number` selects one of the known values with this name; for `now` it is an offset in milliseconds. */
export function placeholder(name: string, number: number): string {
  return `${open}${name}:${number}${close}`;
}

/** Returns the text with every placeholder replaced. */
export function fill(text: string, value: (name: string, number: number) => string): string {
  return text.includes(open)
    ? text.replace(pattern, (_, name: string, number: string) => value(name, Number(number)))
    : text;
}
