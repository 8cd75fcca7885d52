/**
 * `node shared/local-postgres/dist/main.js [--directory DIR] [--port N] [--database NAME] [--fast]`: runs a local
 * Postgres until SIGINT or SIGTERM. Prints the URL on standard output once Postgres accepts connections.
 */
import { parseArgs } from 'node:util';
import { startLocalPostgres } from './local-postgres.js';

const { values } = parseArgs({
  options: {
    directory: { type: 'string', default: '.data/postgres' },
    port: { type: 'string' },
    database: { type: 'string', default: 'longshore' },
    fast: { type: 'boolean', default: false },
  },
});

const postgres = await startLocalPostgres({
  directory: values.directory,
  database: values.database,
  durable: !values.fast,
  ...(values.port === undefined ? {} : { port: Number(values.port) }),
  onLog: (line) => process.stderr.write(`${line}\n`),
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void postgres.stop());
process.stdout.write(`${postgres.url}\n`);
await postgres.ended;
