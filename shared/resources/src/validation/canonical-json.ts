/**
 * Sorts the members of objects at every level, so that equal JSON values have equal texts. For large values, this is much
 * faster than a replacer function for JSON.stringify.
 */
export function canonicalJson(value: unknown): unknown {
  if (!isObject(value)) return value;
  if (Array.isArray(value)) return value.some(isObject) ? value.map(canonicalJson) : value;
  const entries = Object.entries(value).map(([name, member]) => [name, canonicalJson(member)] as const);
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
