/** An error class. Errors are matched with `instanceof`, so a class also matches errors of its subclasses. */
// Abstract classes are allowed too, and constructors with any parameters.
export type ErrorClass = abstract new (...args: never[]) => unknown;

/**
 * Works like `instanceof`, but returns `false` if `instanceof` throws. It does so for a revoked proxy, and handlers can
 * throw anything.
 */
export function isA<Type extends ErrorClass>(value: unknown, type: Type): value is InstanceType<Type> {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}
