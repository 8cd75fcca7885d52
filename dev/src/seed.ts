/** Implements `make seed`: writes example rows for load tests to the database of `make dev` or to `DATABASE_URL`. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startLocalPostgres } from '@longshore/local-postgres';

const root = fileURLToPath(new URL('../../', import.meta.url));
const data = path.resolve(root, process.env['DATA_DIR'] ?? '.data');

/** Runs the `seed` command of the API service, and resolves to its exit code. */
async function seed(databaseUrl: string): Promise<number> {
  const child = spawn(process.execPath, [path.join(root, 'services', 'api', 'dist', 'main.js'), 'seed'], {
    stdio: 'inherit',
    env: {
      LONGSHORE_APP: '@longshore/example-shop',
      ...process.env,
      DATABASE_URL: databaseUrl,
      API_SEED_ROWS: process.env['ROWS'] ?? '300',
    },
  });
  return new Promise((resolve) => {
    child.once('close', (code) => resolve(code ?? 1));
  });
}

async function run(): Promise<number> {
  const given = process.env['DATABASE_URL'];
  if (given !== undefined) return seed(given);
  const postgres = await startLocalPostgres({ directory: path.join(data, 'postgres') });
  try {
    return await seed(postgres.url);
  } finally {
    await postgres.stop();
  }
}

try {
  process.exitCode = await run();
} catch (error) {
  console.error(`make seed: ${error instanceof Error ? error.message : String(error)}`);
  console.error(
    'If make dev is running, pass the URL of its database: make seed ROWS=1000000 DATABASE_URL=…',
  );
  process.exitCode = 1;
}
