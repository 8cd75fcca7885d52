import { defaultRedaction, isRedacted } from '@longshore/jobs/storage';

/** Stands for a secret in a log line. */
const placeholder = '[redacted]';

/** Deeper members are logged as they are. */
const maxDepth = 8;

/** Maximum number of keys whose decision is remembered. */
const maxKeys = 2_000;

const decisions = new Map<string, boolean>();

/**
 * Returns the fields of a log line without secrets: values under keys such as `password`, `apiKey` or `authorization` are
 * replaced, as they are in the dashboard. Returns the same object if it has none.
 */
export function withoutSecrets<Fields extends object>(fields: Fields): Fields {
  return redacted(fields, 0) as Fields;
}

function redacted(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth === maxDepth) return value;
  if (Array.isArray(value))
    return unlessSame(
      value,
      value.map((item) => redacted(item, depth + 1)),
    );
  if (!isPlain(value)) return value; // such as an error, which the logger serializes itself
  const entries = Object.entries(value);
  const members = entries.map(([key, member]) => (isSecret(key) ? placeholder : redacted(member, depth + 1)));
  if (members.every((member, index) => member === entries[index]?.[1])) return value;
  return Object.fromEntries(entries.map(([key], index) => [key, members[index]]));
}

function unlessSame(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  return after.every((item, index) => item === before[index]) ? before : after;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isSecret(key: string): boolean {
  const known = decisions.get(key);
  if (known !== undefined) return known;
  const decision = isRedacted(key, defaultRedaction);
  if (decisions.size < maxKeys) decisions.set(key, decision);
  return decision;
}

const passwordInUrl = /(\b[a-z][a-z\d+.-]*:\/\/[^\s/@:"\\]*):[^\s@"\\]+@/gi;

/** Returns a log line in which no URL has a password. */
export function withoutPasswords(line: string): string {
  return line.includes('://') ? line.replaceAll(passwordInUrl, `$1:${placeholder}@`) : line;
}
