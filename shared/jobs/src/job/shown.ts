import { shorten } from '@longshore/edge';

/** Returns how an error message describes a value that was given. Never throws. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `"${shorten(value, 100)}"`;
    case 'number':
    case 'boolean':
    case 'undefined':
      return String(value);
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return 'a list';
      if (value instanceof Date)
        return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString();
      return builtIn(value) === 'Promise' ? 'a promise' : nameOf(builtIn(value));
    default:
      return `a ${typeof value}`;
  }
}

/**
 * Returns the class of the language or the platform that a value belongs to, in whichever context it was created: `Map` or
 * `Promise`, for example, and `Object` for plain objects and instances of the application's classes. Never throws.
 */
export function builtIn(value: object): string {
  try {
    return Object.prototype.toString.call(value).slice(8, -1);
  } catch {
    return 'Object'; // a revoked proxy, or a getter that throws
  }
}

function nameOf(type: string): string {
  return type === 'Object' ? 'an object' : `an instance of ${type}`;
}
