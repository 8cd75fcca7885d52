import type { ApiConfig } from '@longshore/api';
import { type Logger, runService, type RunningService } from '@longshore/service';
import type { Command } from 'commander';
import { develop } from './develop.js';

type ApiStart = (config: ApiConfig, logger: Logger, signal: AbortSignal) => Promise<RunningService | null>;

/** Adds the commands that load the application and run in this process. */
export function addLocalCommands(program: Command): void {
  const command = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .argument(
        '[application]',
        'the module that exports the application: a package, or a path that begins with a dot or a slash; default: LONGSHORE_APP',
      );

  command('dev', 'Run api, worker and dashboard in one process, with reload on save')
    .option('--port <number>', 'the port to listen on', Number, 8080)
    .addHelpText('after', '\nWithout DATABASE_URL, starts a Postgres from npm in .longshore/postgres.')
    .action((application: string | undefined, { port }: { port: number }) =>
      develop(nameApplication(application), port),
    );
  command('api', 'Run the HTTP API').action(async (application?: string) => {
    nameApplication(application);
    const { startApi } = await import('@longshore/api');
    await runApi(startApi);
  });
  command('worker', 'Run jobs').action(async (application?: string) => {
    nameApplication(application);
    const { readWorkerConfig, startWorker, workerVariables } = await import('@longshore/worker');
    const environment = process.env;
    await exitAfter(
      runService({
        name: 'worker',
        environment,
        variables: workerVariables,
        readConfig: readWorkerConfig,
        start: startWorker,
      }),
    );
  });
  program
    .command('dashboard')
    .description('Run the dashboard')
    .action(async () => {
      const { dashboardServiceVariables, readDashboardConfig, startDashboard } =
        await import('@longshore/dashboard');
      await exitAfter(
        runService({
          name: 'dashboard',
          environment: process.env,
          variables: dashboardServiceVariables,
          readConfig: readDashboardConfig,
          start: startDashboard,
        }),
      );
    });
  command('migrate', 'Bring all schemas up to date, and exit').action(async (application?: string) => {
    nameApplication(application);
    const { migrateAll } = await import('@longshore/api');
    await runApi(migrateAll);
  });
  command('seed', 'Replace the rows of the application’s tables with example rows')
    .option('--rows <number>', 'how many, approximately', '300')
    .action(async (application: string | undefined, { rows }: { rows: string }) => {
      nameApplication(application);
      process.env['API_SEED_ROWS'] = rows;
      const { seedTables } = await import('@longshore/api');
      await runApi(seedTables);
    });
  program
    .command('create-key')
    .description('Create a key for the API, and print its token, which cannot be shown again')
    .requiredOption('--name <name>', 'who uses the key')
    .requiredOption('--scopes <list>', 'comma-separated: read, write, operate, admin')
    .option('--queues <list>', 'only these queues, comma-separated')
    .option('--expires <date>', 'such as 2027-01-31')
    .action(async (options: Readonly<Record<string, string>>) => {
      const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
      const { createKey } = await import('@longshore/api');
      await runApi((config) => createKey(config, args));
    });
}

/**
 * Sets the environment variable that names the application.
 *
 * @throws {Error} if neither the argument nor the variable is given
 */
function nameApplication(argument: string | undefined): string {
  const name = argument ?? process.env['LONGSHORE_APP'];
  if (name === undefined || name === '')
    throw new Error(
      'Name the module that exports your application, as an argument or in LONGSHORE_APP: ./dist/application.js',
    );
  // An existing file counts as a path even without a leading dot.
  const isFile = /\.[cm]?[jt]s$/.test(name) && !/^[./]/.test(name) && argument !== undefined;
  process.env['LONGSHORE_APP'] = isFile ? `./${name}` : name;
  return process.env['LONGSHORE_APP'];
}

async function runApi(start: ApiStart): Promise<void> {
  const { apiVariables, readApiConfig } = await import('@longshore/api');
  const environment = process.env;
  await exitAfter(
    runService({ name: 'api', environment, variables: apiVariables, readConfig: readApiConfig, start }),
  );
}

/** Exits with the exit code of a service, even if something in the application keeps the process alive. */
async function exitAfter(service: Promise<number>): Promise<void> {
  process.exit(await service);
}
