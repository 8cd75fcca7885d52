/**
 * Placeholders stand in generated requests for values that are known only when the request is sent, such as an id, a
 * cursor or the time. They are delimited by private-use characters, which nothing else generates.
 */
const open = '\u{F0001}';
const close = '\u{F0002}';
const pattern = new RegExp(`${open}(\\w+):(-?\\d+)${close}`, 'gu');

/** @param number selects one of the known values with this name; for `now`, an offset in milliseconds */
export function placeholder(name: string, number: number): string {
  return `${open}${name}:${number}${close}`;
}

/** Returns the text with every placeholder replaced. */
export function fill(text: string, value: (name: string, number: number) => string): string {
  return text.includes(open)
    ? text.replace(pattern, (_, name: string, number: string) => value(name, Number(number)))
    : text;
}
