/** Replacements for members of an object and of nested objects. Members that are not listed stay the same. */
export type Overrides<T> = {
  [K in keyof T]?: T[K] extends (...args: never[]) => unknown ? T[K] : Overrides<T[K]>;
};

/** Returns a proxy that replaces some members of an object. Methods that are not replaced run on the original. */
export function overriding<T extends object>(object: T, overrides: Overrides<T>): T {
  return new Proxy(object, {
    get: (target, name) => {
      const own: unknown = Reflect.get(target, name, target);
      const replaced: unknown = Reflect.get(overrides, name);
      if (isPlain(own) && isPlain(replaced)) return overriding(own, replaced);
      if (replaced !== undefined) return replaced;
      return typeof own === 'function' ? (own.bind(target) as unknown) : own;
    },
  });
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
