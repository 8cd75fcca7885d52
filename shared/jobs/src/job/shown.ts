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
      if (value instanceof Promise) return 'a promise';
      return 'an object';
    default:
      return `a ${typeof value}`;
  }
}
