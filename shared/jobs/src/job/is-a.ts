/** A class of errors, including its subclasses (`instanceof`). */
// Abstract classes and any constructor parameters are accepted.
export type ErrorClass = abstract new (...args: never[]) => unknown;

/**
 * An `instanceof` that never throws, because handlers may throw anything, such as a revoked proxy. Returns `false`
 * where `instanceof` would throw.
 */
export function isA<Type extends ErrorClass>(value: unknown, type: Type): value is InstanceType<Type> {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}
