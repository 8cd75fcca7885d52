type JsonObject = Readonly<Record<string, unknown>>;

/** The result of a JSON merge patch (RFC 7396): null removes a member, objects are merged, all else replaces. */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const result = new Map(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    const present = result.get(name);
    if (value === null) result.delete(name);
    else if (isObject(value)) result.set(name, mergePatch(isObject(present) ? present : {}, value));
    else result.set(name, value);
  }
  return Object.fromEntries(result);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
