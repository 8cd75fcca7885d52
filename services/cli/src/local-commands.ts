import type { ApiConfig, findApiProblems } from '@longshore/api';
import type { Logger, RunningService } from '@longshore/service';
import { formatLogLine, paintFor } from '@longshore/service/log-line';
import type { Command } from 'commander';
import { nameApplication, prepareToLoad } from './application-module.js';
import { readInteger, readPort } from './arguments.js';
import { develop } from './develop.js';
import { withDevelopmentPostgres } from './development-postgres.js';

type ApiStart = (config: ApiConfig, logger: Logger, signal: AbortSignal) => Promise<RunningService | null>;

/**
 * Adds the commands that run in this process. Each command imports its service when it is called, because importing all
 * services would slow down every command.
 */
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
    .option('--port <number>', 'the port to listen on', readPort, 8080)
    .addHelpText(
      'after',
      '\nWithout DATABASE_URL, starts a Postgres from npm in .longshore/postgres, unless API_STORAGE is memory.\n\nExample: longshore dev src/application.ts --port 3000',
    )
    .action((application: string | undefined, { port }: { port: number }) =>
      develop(nameApplication(application), port),
    );
  const example = (text: string): [position: 'after', text: string] => ['after', `\nExample: ${text}`];
  command('api', 'Run the HTTP API')
    .addHelpText(...example('PORT=8080 longshore api dist/application.js'))
    .action(async (application?: string) => {
      await prepareToLoad(nameApplication(application));
      const { findApiProblems, startApi } = await import('@longshore/api');
      await exitAfter(runApi(startApi, { findProblems: findApiProblems }));
    });
  command('worker', 'Run jobs')
    .option('--once', 'run the jobs that are ready, and exit: for cron and other schedulers')
    .addHelpText(...example('WORKER_QUEUES=mail,default longshore worker dist/application.js'))
    .action(async (application: string | undefined, { once = false }: { once?: boolean }) => {
      await prepareToLoad(nameApplication(application));
      const { runService } = await import('@longshore/service');
      const { findWorkerProblems, readWorkerConfig, startWorker, startWorkerOnce, workerVariables } =
        await import('@longshore/worker');
      const environment = process.env;
      await exitAfter(
        runService({
          name: 'worker',
          environment,
          variables: workerVariables,
          readConfig: readWorkerConfig,
          findProblems: findWorkerProblems,
          start: once ? startWorkerOnce : startWorker,
        }),
      );
    });
  program
    .command('dashboard')
    .description('Run the dashboard')
    .addHelpText(...example('PORT=8081 DASHBOARD_PASSWORD=… longshore dashboard'))
    .action(async () => {
      const { runService } = await import('@longshore/service');
      const { dashboardServiceVariables, findDashboardProblems, readDashboardConfig, startDashboard } =
        await import('@longshore/dashboard');
      await exitAfter(
        runService({
          name: 'dashboard',
          environment: process.env,
          variables: dashboardServiceVariables,
          readConfig: readDashboardConfig,
          findProblems: findDashboardProblems,
          start: startDashboard,
        }),
      );
    });
  command('migrate', 'Bring all schemas up to date, and exit')
    .option('--check', 'only list what has not been run, and exit with 1 if there is anything')
    .addHelpText(...example('longshore migrate dist/application.js'))
    .action(async (application: string | undefined, { check = false }: { check?: boolean }) => {
      await prepareToLoad(nameApplication(application));
      const { checkMigrations, migrateAll } = await import('@longshore/api');
      await runCommand(check ? checkMigrations : migrateAll);
    });
  command('seed', 'Replace the rows of the application’s tables with example rows')
    .option('--rows <number>', 'how many, approximately', readInteger, 300)
    .addHelpText(...example('longshore seed dist/application.js --rows 1000'))
    .action(async (application: string | undefined, { rows }: { rows: number }) => {
      await prepareToLoad(nameApplication(application));
      process.env['API_SEED_ROWS'] = String(rows);
      const { seedTables } = await import('@longshore/api');
      await runCommand(seedTables);
    });
  program
    .command('create-key')
    .description('Create a key for the API, and print its token, which cannot be shown again')
    .requiredOption('--name <name>', 'who uses the key')
    .requiredOption('--scopes <list>', 'comma-separated: read, write, operate, admin')
    .option('--queues <list>', 'only these queues, comma-separated')
    .option('--expires <date>', 'such as 2027-01-31')
    .addHelpText(...example('longshore create-key --name billing --scopes read,write --queues mail'))
    .action(async (options: Readonly<Record<string, string>>) => {
      const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
      const { createKey } = await import('@longshore/api');
      await runCommand((config, logger) => createKey(config, args, logger));
    });
}

async function runApi(
  start: ApiStart,
  more: {
    readonly findProblems?: typeof findApiProblems;
    readonly writeLog?: (line: string) => void;
  } = {},
): Promise<number> {
  const { runService } = await import('@longshore/service');
  const { apiVariables, readApiConfig } = await import('@longshore/api');
  return runService({
    name: 'api',
    environment: process.env,
    variables: apiVariables,
    readConfig: readApiConfig,
    start,
    ...more,
  });
}

/** Runs a one-off command and exits. If standard output is a terminal, log lines are formatted for people. */
async function runCommand(start: ApiStart): Promise<void> {
  const paint = paintFor(process.stdout, process.env);
  const writeLog = (line: string): void =>
    void process.stdout.write(`${formatLogLine(line.trimEnd(), paint)}\n`);
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const log = process.stdout.isTTY ? writeLog : undefined;
  await exitAfter(withDevelopmentPostgres(say, () => runApi(start, log && { writeLog: log })));
}

/** Exits with the service's exit code, even if the application has left timers or connections open. */
async function exitAfter(service: Promise<number>): Promise<void> {
  process.exit(await service);
}
