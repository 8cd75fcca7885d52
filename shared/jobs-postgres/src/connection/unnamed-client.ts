import pg from 'pg';

/**
 * Prepares nothing: behind a pooler a connection's next transaction may run where a statement of that name is not known,
 * or is another.
 */
export class UnnamedClient extends pg.Client {
  override query(...args: never[]): never {
    const [query, ...rest] = args as unknown[];
    const send = super.query.bind(this) as (...args: unknown[]) => unknown;
    return send(unnamed(query), ...rest) as never;
  }
}

/** What has methods is a stream or cursor, and goes through as it is. */
function unnamed(query: unknown): unknown {
  if (typeof query !== 'object' || query === null || !('name' in query) || 'submit' in query) return query;
  const { name: _, ...rest } = query;
  return rest;
}
