/**
 * Delimits placeholders in generated requests. A placeholder stands for a value that is known only when the request is
 * sent, such as an id, a cursor or the time. Both delimiters are private-use characters that nothing else generates.
 */
const open = '\u{F0001}';
const close = '\u{F0002}';
const pattern = new RegExp(`${open}(\\w+):(-?\\d+)${close}`, 'gu');

/**
 * Returns a placeholder for {@link fill} to replace.
 *
 * @param number selects one of the known values with this name; for `now`, an offset in milliseconds
 */
export function placeholder(name: string, number: number): string {
  return `${open}${name}:${number}${close}`;
}

/** Replaces each placeholder in the text with the result of `value` for the placeholder's name and number. */
export function fill(text: string, value: (name: string, number: number) => string): string {
  return text.includes(open)
    ? text.replace(pattern, (_, name: string, number: string) => value(name, Number(number)))
    : text;
}
