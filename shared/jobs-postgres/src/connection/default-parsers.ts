import pg from 'pg';
import type { Connection } from './connection.js';
import { fromDriver } from './errors.js';

/**
 * Wraps a connection so that pg's default parsers apply to a handler's queries. On a connection of the application's
 * pool, that pool's parsers apply.
 *
 * @param members additional members of the returned client
 */
export function withDefaultParsers<Members extends object>(
  { client, isShared }: Connection,
  members: Members,
): pg.ClientBase & Members {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const usual = (first: unknown, ...rest: unknown[]): unknown => {
    const sent = query(isShared ? first : withTypes(first), ...rest);
    return sent instanceof Promise ? fromDriver(sent) : sent;
  };
  return new Proxy(client, {
    get: (target, name) => {
      if (name === 'query') return usual;
      if (name in members) return Reflect.get(members, name) as unknown;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  }) as pg.ClientBase & Members;
}

/** Adds pg's default parsers to a query. Streams and cursors (objects with `submit`) are returned unchanged. */
function withTypes(first: unknown): unknown {
  if (typeof first === 'string') return { text: first, types: pg.types };
  if (typeof first !== 'object' || first === null || 'submit' in first) return first;
  return { types: pg.types, ...first };
}
