/** Any class, abstract or not, with any constructor parameters. */
type Class = abstract new (...args: never[]) => object;

/**
 * Makes `instanceof` recognize instances of a class across copies of this package. A process can load two copies if two
 * versions are installed, or if a bundle contains one copy and a package outside the bundle loads another. Subclasses
 * without a brand keep the usual `instanceof`.
 *
 * @param name a name for the class that is the same in all copies and versions
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
