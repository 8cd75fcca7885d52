/**
 * Converts a JSON pointer to the notation used in messages: `/lines/0/price` → `lines[0].price`.
 *
 * @param start where the pointer starts, such as `[3]`; empty for the whole body
 */
export function fieldPath(pointer: string, start: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, part)), start);
}

export function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
