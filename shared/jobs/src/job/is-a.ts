/** An error class, matched with `instanceof`, so that it also stands for its subclasses. */
// Abstract classes are allowed too, and constructors with any parameters.
export type ErrorClass = abstract new (...args: never[]) => unknown;

/**
 * Works like `instanceof`, but returns `false` where that would throw. Handlers can throw anything, even a revoked
 * proxy, for which `instanceof` throws.
 */
export function isA<Type extends ErrorClass>(value: unknown, type: Type): value is InstanceType<Type> {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}
