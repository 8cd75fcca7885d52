import type { TestDatabase } from '@longshore/test-support';
import type { Statement } from '../../src/connection/statement.js';

interface Explained {
  'QUERY PLAN': { Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }[];
}

/**
 * Executes a statement and returns the number of pages that it reads. Unlike the duration, this number does not depend
 * on the machine's load.
 */
export async function buffersOf(
  database: TestDatabase,
  { text }: Statement,
  values: readonly unknown[],
): Promise<number> {
  const [row] = await database.query<Explained & Record<string, unknown>>(
    `explain (analyze, buffers, format json) ${text}`,
    values,
  );
  const plan = row?.['QUERY PLAN'][0]?.Plan;
  if (plan === undefined) throw new Error('Postgres explained nothing');
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}
