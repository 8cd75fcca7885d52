import pg from 'pg';

/** One of the store's connections as a handler uses it: values of the handler's own rows come out as `pg` gives them. */
export function withUsualTypes<Client extends pg.ClientBase>(client: Client): Client {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const usual = (first: unknown, ...rest: unknown[]): unknown => query(withTypes(first), ...rest);
  return new Proxy(client, {
    get: (target, name) => {
      if (name === 'query') return usual;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** What has methods is a stream or cursor, and goes through as it is. */
function withTypes(first: unknown): unknown {
  if (typeof first === 'string') return { text: first, types: pg.types };
  if (typeof first !== 'object' || first === null || 'submit' in first) return first;
  return { types: pg.types, ...first };
}
