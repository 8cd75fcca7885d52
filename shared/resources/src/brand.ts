/** Any class: abstract or concrete, with any constructor parameters. */
type Class = abstract new (...args: never[]) => object;

/**
 * Makes `instanceof` work across copies of this package. A process has several copies if several versions are
 * installed, or if a bundle contains one copy and a dependency loads another. Subclasses keep the usual `instanceof`.
 *
 * @param name identifies the class, so it must be the same in all copies and versions
 */
export function brand(type: Class, name: string): void {
  const mark = Symbol.for(`longshore ${name}`);
  Object.defineProperty(type.prototype, mark, { value: true });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this !== type) return Function.prototype[Symbol.hasInstance].call(this, value);
      return typeof value === 'object' && value !== null && Reflect.get(value, mark) === true;
    },
  });
}
