import { WatchedClient } from './watched-client.js';

/**
 * A client that never prepares statements. With a pooler, the next transaction can run on a different connection, where
 * the statement's name is unknown or belongs to another statement.
 */
export class UnnamedClient extends WatchedClient {
  override query(...args: never[]): never {
    const [query, ...rest] = args as unknown[];
    const send = super.query.bind(this) as (...args: unknown[]) => unknown;
    return send(unnamed(query), ...rest) as never;
  }
}

/** Returns a query without its name. Streams and cursors (objects with `submit`) are returned unchanged. */
function unnamed(query: unknown): unknown {
  if (typeof query !== 'object' || query === null || !('name' in query) || 'submit' in query) return query;
  const { name: _, ...rest } = query;
  return rest;
}
