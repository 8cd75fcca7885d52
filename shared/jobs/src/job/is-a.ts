/** A class of errors. It matches its own instances and those of its subclasses, as `instanceof` does. */
// The type also accepts abstract classes, and constructors with any parameters.
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
