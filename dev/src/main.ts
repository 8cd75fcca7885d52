/**
 * Implements `make dev`: runs the services as local processes until Ctrl-C. Also runs a Postgres server, unless
 * `API_STORAGE` is `memory`. The arguments are the projects to compile when a source file changes. Without arguments,
 * nothing is watched.
 */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, startLocalPostgres, type LocalPostgres } from '@longshore/local-postgres';
import { formatLogLine, paintFor } from '@longshore/service/log-line';
import { oneProcess, threeServices, type Places } from './plan.js';
import { rebuildOnChange } from './rebuild.js';
import { lockDataDirectory } from './running-once.js';
import { supervise } from './supervise.js';
import { welcome } from './welcome.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const data = path.resolve(root, process.env['DATA_DIR'] ?? '.data');
const places: Places = {
  root,
  results: path.join(data, 'results'),
  seedRows: process.env['API_SEED_ROWS'] ?? '300',
  freePort,
};
const dashboardPath = process.env['DASHBOARD_PATH'] ?? '/job-dashboard';
const paint = paintFor(process.stdout, process.env);
const colours = { api: 'cyan', dashboard: 'magenta', worker: 'yellow', postgres: 'blue' } as const;

const projects = process.argv.slice(2);

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function sayFrom(name: string, line: string): void {
  const prefix = paint(colours[name as keyof typeof colours], `${name.padEnd(9)} │ `);
  say(prefix + formatLogLine(line, paint).replaceAll('\n', `\n${prefix}`));
}

function reload(restart: () => Promise<void>): (changed: string) => Promise<void> {
  return async (changed) => {
    say(`${changed} has changed: restarting`);
    await restart();
  };
}

async function startPostgres(): Promise<LocalPostgres> {
  say(`Starting Postgres on ${path.relative(root, data)}/postgres`);
  const onLog = (line: string): void => {
    if (/ (ERROR|PANIC|WARNING): /.test(line)) sayFrom('postgres', line);
  };
  return startLocalPostgres({ directory: path.join(data, 'postgres'), port: await freePort(54320), onLog });
}

async function run(): Promise<void> {
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
  });
  await mkdir(data, { recursive: true });
  const allowNext = await lockDataDirectory(data);
  let postgres: LocalPostgres | null = null;
  let stopWatching = async (): Promise<void> => undefined;
  try {
    if (process.env['API_STORAGE'] !== 'memory') postgres = await startPostgres();
    const specs = postgres === null ? await oneProcess(places) : await threeServices(places, postgres.url);
    const urls = Object.fromEntries(specs.map(({ name, url }) => [name, url]));
    const { api = '', dashboard = api, worker } = urls;
    await supervise({
      specs,
      interrupted,
      ...(postgres === null ? {} : { databaseEnded: postgres.ended }),
      onLine: sayFrom,
      onEnded: (name, how) =>
        sayFrom(name, paint('red', `${name} exited unexpectedly: ${how}; restarting it`)),
      onStart: (restart) => {
        if (projects.length > 0) stopWatching = rebuildOnChange(root, projects, reload(restart), say);
      },
      onReady: () =>
        say(welcome({ api, dashboard: dashboard + dashboardPath, worker, database: postgres?.url }, paint)),
    });
  } finally {
    say('Stopping');
    await stopWatching();
    await postgres?.stop();
    await allowNext();
  }
}

try {
  await run();
} catch (error) {
  console.error(paint('red', `make dev: ${error instanceof Error ? error.message : String(error)}`));
  process.exitCode = 1;
}
