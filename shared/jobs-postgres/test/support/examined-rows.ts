import pg from 'pg';

interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

interface Explained {
  readonly 'Query Text': string;
  readonly Plan: PlanNode;
}

/** Makes Postgres report the plan of each statement, with its numbers of rows, as a notice. */
const settings = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_format': 'json',
  'auto_explain.log_level': 'notice',
  client_min_messages: 'notice',
};

/**
 * A pool that counts the rows that its statements examine: those that the nodes of their plans return or discard. Unlike
 * the duration, this number does not depend on the machine.
 */
export interface CountingPool {
  readonly pool: pg.Pool;
  /** Returns the largest number of rows that one execution of a statement whose text matches has examined. */
  readonly most: (text: RegExp) => number;
}

/** Creates a {@link CountingPool}. The caller must end the pool. */
export function createCountingPool(url: string): CountingPool {
  const mostByText = new Map<string, number>();
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  const pool = new pg.Pool({ connectionString: url, options: options.join(' ') });
  pool.on('connect', (client) => {
    client.on('notice', ({ message = '' }) => {
      const begin = message.indexOf('{');
      if (begin < 0) return;
      const { 'Query Text': text, Plan: plan } = JSON.parse(message.slice(begin)) as Explained;
      mostByText.set(text, Math.max(mostByText.get(text) ?? 0, rowsOf(plan)));
    });
  });
  const most = (pattern: RegExp): number =>
    Math.max(0, ...[...mostByText].map(([text, rows]) => (pattern.test(text) ? rows : 0)));
  return { pool, most };
}

function rowsOf(node: PlanNode): number {
  const perLoop =
    node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  return perLoop * node['Actual Loops'] + (node.Plans ?? []).reduce((sum, part) => sum + rowsOf(part), 0);
}
