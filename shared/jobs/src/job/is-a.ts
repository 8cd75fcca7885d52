/** An error class, abstract or not, with any constructor parameters. */
export type ErrorClass = abstract new (...args: never[]) => unknown;

/**
 * Works like `instanceof`, but returns `false` if `instanceof` throws. Handlers can throw any value, and `instanceof`
 * throws for a revoked proxy.
 */
export function isA<Type extends ErrorClass>(value: unknown, type: Type): value is InstanceType<Type> {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}
