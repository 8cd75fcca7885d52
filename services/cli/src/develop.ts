import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { formatLogLine, paintFor } from '@longshore/service/log-line';
import { watch } from 'chokidar';
import { loaderFor } from './application-module.js';
import { lacksPostgres, startDevelopmentPostgres } from './development-postgres.js';

const main = fileURLToPath(new URL('main.js', import.meta.url));
const paint = paintFor(process.stdout, process.env);

/** Paths that are not watched for changes: dependencies, build output, and names that begin with a dot. */
const ignored = /(^|[/\\])(\.[^./\\][^/\\]*|node_modules|dist|coverage)([/\\]|$)/;

/** How long the process may take to stop before it is killed, in milliseconds. */
const stopMs = 3_000;

/** Time to wait for further changes before a restart, in milliseconds. */
const settleMs = 50;

/**
 * Implements `longshore dev`: runs the API, a worker and the dashboard in one process, and restarts the process when a
 * file in the working directory changes. Starts Postgres if the services need it and `DATABASE_URL` is not set.
 * Resolves when the command has been stopped, for example with Ctrl-C.
 *
 * @throws {Error} if the port is in use, or a required package is not installed
 */
export async function develop(application: string, port: number): Promise<void> {
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
  });
  const url = `http://localhost:${port}`;
  if (await isInUse(port)) throw new Error(`Port ${port} is in use. Choose another one with --port`);
  const postgres = lacksPostgres() ? await startDevelopmentPostgres(say) : null;
  const env = {
    NODE_ENV: 'development',
    HOST: '127.0.0.1',
    API_BASE_URL: url,
    API_EMBEDDED_SERVER: 'true',
    API_EMBEDDED_DASHBOARD: 'true',
    WORKER_STOP_TIMEOUT_MS: '1000',
    ...process.env,
    PORT: String(port),
    ...(postgres && { DATABASE_URL: postgres.url }),
  };
  const start = (): ChildProcess => startService(application, env, url);
  let service = start();
  process.once('exit', () => service.kill('SIGKILL'));
  let restart: NodeJS.Timeout | undefined;
  let restarting = Promise.resolve();
  const watcher = watch('.', { ignored, ignoreInitial: true }).on('all', (_, file) => {
    clearTimeout(restart);
    restart = setTimeout(() => {
      restarting = restarting.then(async () => {
        say(`${file} has changed: restarting`);
        await stop(service);
        service = start();
      });
    }, settleMs);
  });
  await interrupted;
  say('Stopping');
  clearTimeout(restart);
  await watcher.close();
  await restarting;
  await stop(service);
  await postgres?.stop();
}

function startService(application: string, env: NodeJS.ProcessEnv, url: string): ChildProcess {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...loaderFor(application), main, 'api'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // Ctrl-C reaches only this process; this process then stops the service
  });
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      say(formatLogLine(line, paint));
      if (line.includes('"msg":"ready"'))
        welcome(url, env['DATABASE_URL'], Math.round(performance.now() - startedAt));
    });
  child.once('close', (code) => {
    if (code !== 0 && code !== null)
      say(paint('red', `The service exited with code ${code}; waiting for a change`));
  });
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'close');
  child.kill('SIGTERM');
  const killTimer = setTimeout(() => child.kill('SIGKILL'), stopMs);
  await ended;
  clearTimeout(killTimer);
}

/** Returns whether a program listens on a TCP port of this machine. */
async function isInUse(port: number): Promise<boolean> {
  const socket = connect(port, 'localhost');
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}

function welcome(url: string, database: string | undefined, ms: number): void {
  say(
    [
      '',
      `  ${paint('bold', 'Longshore is up')} after ${ms} ms. Press Ctrl-C to stop. It restarts when a file changes.`,
      '',
      `    API         ${paint('cyan', `${url}/api/v1`)}`,
      `    Reference   ${paint('cyan', `${url}/api/v1/docs`)}`,
      `    Dashboard   ${paint('cyan', `${url}${process.env['DASHBOARD_PATH'] ?? '/job-dashboard'}`)}`,
      // Omits a `DATABASE_URL` that the user has set, because it may contain a password.
      ...(lacksPostgres() ? [`    Postgres    ${paint('cyan', database ?? '')}`] : []),
      '',
    ].join('\n'),
  );
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
