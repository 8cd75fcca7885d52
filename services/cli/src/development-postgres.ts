import { existsSync } from 'node:fs';
import path from 'node:path';
import type { LocalPostgres } from '@longshore/local-postgres';

const directory = path.resolve('.longshore/postgres');

/**
 * Runs `work` with `DATABASE_URL` set to the local Postgres of `longshore dev`, if the working directory has one. If
 * that Postgres is not running, starts it first and stops it after `work`. Leaves the environment unchanged if
 * `DATABASE_URL` is set, `API_STORAGE` is `memory`, or `NODE_ENV` is `production`.
 *
 * @param say shows a message to the user
 */
export async function withDevelopmentPostgres<Result>(
  say: (line: string) => void,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!lacksPostgres() || process.env['NODE_ENV'] === 'production' || !existsSync(directory)) return work();
  const { runningPostgresUrl } = await import('@longshore/local-postgres');
  const running = await runningPostgresUrl(directory);
  if (running !== null) say(`Using the Postgres of longshore dev, ${path.relative('.', directory)}`);
  const started = running === null ? await startDevelopmentPostgres(say) : null;
  process.env['DATABASE_URL'] = running ?? started?.url;
  try {
    return await work();
  } finally {
    await started?.stop();
  }
}

/** Returns whether the services need Postgres but `DATABASE_URL` is not set. */
export function lacksPostgres(): boolean {
  return !process.env['DATABASE_URL'] && process.env['API_STORAGE'] !== 'memory';
}

/**
 * Starts a local Postgres with its data in `.longshore/postgres`.
 *
 * @param say called with a progress message, and with each warning, error and panic that Postgres logs
 * @throws {Error} if `@longshore/local-postgres` is not installed
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
  say(`Starting Postgres on ${path.relative('.', directory)}`);
  const onLog = (line: string): void => {
    if (/ (ERROR|PANIC|WARNING): /.test(line)) say(`postgres: ${line}`);
  };
  return startLocalPostgres({ directory, port: await freePort(54320), onLog });
}
