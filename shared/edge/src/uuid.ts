declare const normalised: unique symbol;

/** A UUID in lower case. {@link parseUuid} is the only way to get one from text. */
export type Uuid = string & { readonly [normalised]: true };

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns a UUID in lower case, whatever its case. Returns undefined if the text is not a UUID. */
export function parseUuid(text: string): Uuid | undefined {
  if (text.length !== 36) return undefined;
  const lower = text.toLowerCase();
  return pattern.test(lower) ? (lower as Uuid) : undefined;
}
