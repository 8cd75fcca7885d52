/**
 * What a generated request says in place of a value that is only known when it is sent: an id that the service gave, a
 * cursor, the time. Private-use characters, which nothing else generates, keep it apart from all other text.
 */
const open = '\u{F0001}';
const close = '\u{F0002}';
const pattern = new RegExp(`${open}(\\w+):(-?\\d+)${close}`, 'gu');

/** `number` chooses among the values known under the name; for `now` it is an offset in milliseconds. */
export function placeholder(name: string, number: number): string {
  return `${open}${name}:${number}${close}`;
}

/** The text with every placeholder replaced. */
export function fill(text: string, value: (name: string, number: number) => string): string {
  return text.includes(open)
    ? text.replace(pattern, (_, name: string, number: string) => value(name, Number(number)))
    : text;
}
