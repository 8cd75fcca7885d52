/** A class of errors; its subclasses belong to it (`instanceof`). */
// An abstract class, or one with parameters of its own, is welcome too.
export type ErrorClass = abstract new (...args: never[]) => unknown;

/**
 * `instanceof` that never throws, for what handlers throw: a revoked proxy, or a class that is none, belongs to nothing.
 */
export function isA<Type extends ErrorClass>(value: unknown, type: Type): value is InstanceType<Type> {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}
