import { misspeltVariables } from '@longshore/service/misspelt-variables';
import type { Command } from 'commander';
import { readId, readInteger, readJson } from './arguments.js';
import { follow } from './follow.js';
import { type Address, Installation, type Item } from './installation.js';
import { print, printError } from './print.js';
import { ProgressBar } from './progress-bar.js';
import { fields, table } from './table.js';

interface Shared extends Address {
  readonly json?: boolean;
}

interface EnqueueOptions extends Shared {
  readonly queue?: string;
  readonly priority?: number;
  readonly delayMs?: number;
  readonly tag?: string[];
  readonly wait?: boolean;
}

interface JobError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | null;
}

interface ListOptions extends Shared {
  readonly state?: string[];
  readonly queue?: string[];
  readonly name?: string[];
  readonly tag?: string[];
  readonly limit: number;
}

const exampleId = '01a20472-5ed1-7102-9962-bf1f1a0fa733';
const jobColumns = ['id', 'name', 'queue', 'state', 'attempt', 'createdAt'];

/** Adds the commands that call a running installation over HTTP. */
export function addHttpCommands(program: Command): void {
  const command = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .option(
        '--url <url>',
        'the base URL of the API; default: LONGSHORE_URL',
        variable('LONGSHORE_URL') ?? 'http://localhost:8080',
      )
      .option('--key <token>', 'an API key; default: LONGSHORE_KEY', variable('LONGSHORE_KEY'))
      .option('--json', 'print JSON')
      .hook('preAction', () => {
        for (const warning of misspeltVariables(process.env, [])) printError(warning);
      });

  command('enqueue', 'Enqueue a job')
    .argument('<name>', 'the name of the job')
    .argument('[args]', 'its arguments as JSON', readJson, {})
    .option('--queue <name>', 'the queue; default: that of the job definition')
    .option('--priority <number>', 'from -100 (first) to 100', readInteger)
    .option('--delay-ms <number>', 'milliseconds to wait before the job may run', readInteger)
    .option('--tag <tag...>', 'labels to find it by')
    .option('--wait', 'wait until the job has finished, and show its log; exit code 1 unless it is done')
    .addHelpText('after', `\nExample: longshore enqueue greet '{"name":"Ada"}' --queue mail --wait`)
    .action(async (name: string, args: object, options: EnqueueOptions) => {
      const { queue, priority, delayMs, tag: tags, wait } = options;
      const installation = new Installation(options);
      const job = await installation.call<Item>('POST', 'jobs', {
        name,
        args,
        queue,
        priority,
        delayMs,
        tags,
      });
      if (wait === true) await showFollowed(installation, String(job['id']), true, options);
      else show(job, options, fields);
    });

  command('jobs', 'List jobs, latest first')
    .option('--state <state...>', 'only jobs in these states')
    .option('--queue <name...>', 'only jobs in these queues')
    .option('--name <name...>', 'only jobs with these names')
    .option('--tag <tag...>', 'only jobs with these tags')
    .option('--limit <number>', 'the maximum number of jobs', readInteger, 20)
    .addHelpText('after', '\nExample: longshore jobs --state failed --queue mail --json')
    .action(async (options: ListOptions) => {
      const query = new URLSearchParams({ limit: String(options.limit), sort: '-createdAt' });
      for (const filter of ['state', 'queue', 'name', 'tag'] as const)
        for (const value of options[filter] ?? []) query.append(filter, value);
      await list(options, `jobs?${query.toString()}`, jobColumns);
    });

  command('job', 'Show a job')
    .argument('<id>', 'the id of the job', readId)
    .addHelpText('after', `\nExample: longshore job ${exampleId} --json`)
    .action(async (id: string, options: Shared) => {
      show(await new Installation(options).call<Item>('GET', `jobs/${id}`), options, fields);
    });

  command('logs', 'Show the log of a job')
    .argument('<id>', 'the id of the job', readId)
    .option('--follow', 'follow the log until the job has finished; exit code 1 unless it is done')
    .addHelpText('after', `\nExample: longshore logs ${exampleId} --follow`)
    .action(async (id: string, options: Shared & { readonly follow?: boolean }) => {
      await showFollowed(new Installation(options), id, options.follow === true, options);
    });

  for (const [verb, description] of [
    ['retry', 'Retry jobs that have failed or were cancelled'],
    ['cancel', 'Cancel jobs'],
  ] as const)
    command(verb, description)
      .argument('<id...>', 'the ids of the jobs', (id, ids: string[] | undefined) => [
        ...(ids ?? []),
        readId(id),
      ])
      .addHelpText('after', `\nExample: longshore ${verb} ${exampleId}`)
      .action(async (ids: string[], options: Shared) => {
        const installation = new Installation(options);
        const changed: Item[] = [];
        try {
          for (const id of ids) changed.push(await installation.call<Item>('PUT', `jobs/${id}/${verb}`));
        } finally {
          if (changed.length > 0) show(changed, options, (jobs) => table(jobs, jobColumns));
        }
      });

  command('queues', 'List queues')
    .addHelpText('after', '\nExample: longshore queues --json')
    .action((options: Shared) =>
      list(
        options,
        'queues?limit=100',
        ['name', 'enqueued', 'processing', 'failed', 'servers', 'pausedAt'],
        (queue) => ({
          ...queue,
          ...(queue['counts'] as Item),
        }),
      ),
    );
  command('recurring', 'List recurring jobs')
    .addHelpText('after', '\nExample: longshore recurring')
    .action((options: Shared) =>
      list(options, 'recurring-jobs?limit=100', ['id', 'name', 'cron', 'timeZone', 'nextDueAt', 'pausedAt']),
    );
}

async function list(
  options: Shared,
  path: string,
  columns: readonly string[],
  row = (item: Item): Item => item,
): Promise<void> {
  const items = await new Installation(options).call<Item[]>('GET', path);
  show(items, options, (all) => (all.length === 0 ? 'none' : table(all.map(row), columns)));
}

/**
 * Prints the log of a job. With `untilFinished`, also waits for the job to finish and prints the outcome. The exit code
 * is then 1 unless the job is `done`.
 */
async function showFollowed(
  installation: Installation,
  id: string,
  untilFinished: boolean,
  { json = false }: Shared,
): Promise<void> {
  const bar = new ProgressBar(process.stderr);
  const onLine = (line: Item): void => {
    const { at, level, message } = line as { at: string; level: string; message: string };
    bar.writeAbove(() => print(json ? JSON.stringify(line) : `${at} ${level} ${message}`));
  };
  const onProgress = (percent: number, message: string | null): void => bar.draw(percent, message);
  const job = await follow(installation, id, untilFinished, onLine, onProgress).finally(() => bar.remove());
  if (!untilFinished) return;
  const { state, result, error } = job as { state: string; result: unknown; error: JobError | null };
  const outcome =
    error === null ? JSON.stringify(result) : (error.stack ?? `${error.name}: ${error.message}`);
  print(json ? JSON.stringify(job) : `${state} ${outcome}`);
  if (state !== 'done') process.exitCode = 1;
}

function show<Content>(
  content: Content,
  { json = false }: Shared,
  format: (content: Content) => string,
): void {
  print(json ? JSON.stringify(content, null, 2) : format(content));
}

/** Returns an environment variable; `undefined` if it is empty or not set. */
function variable(name: string): string | undefined {
  const value = process.env[name];
  return value === '' ? undefined : value;
}
