import type { Database } from '@longshore/resources';

/**
 * Fills the table with example customers if it is empty, or replaces all customers if `replace` is true.
 * Example: `npx longshore seed --rows 1000`.
 */
export async function seed(database: Database, rows: number, { replace = false } = {}): Promise<void> {
  if (replace) await database.query('delete from app.customer');
  await database.query(
    `insert into app.customer (name, email)
     select 'Customer ' || n, 'customer-' || n || '@example.com' from generate_series(1, $1::integer) as n
     where not exists (select from app.customer)`,
    [rows],
  );
}
