import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { readId, readInteger, readJson } from './arguments.js';
import { addHttpCommand, follow, type HttpOptions, Installation, list, show } from './installation.js';
import { fields, type Item, print, ProgressBar, table } from './output.js';

interface EnqueueOptions extends HttpOptions {
  readonly queue?: string;
  readonly priority?: number;
  readonly delayMs?: number;
  readonly runAt?: string;
  readonly maxAttempts?: number;
  readonly unique?: string;
  readonly idempotencyKey?: string;
  readonly correlate?: string;
  readonly tag?: string[];
  readonly wait?: boolean;
}

interface JobError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | null;
}

interface ListOptions extends HttpOptions {
  readonly state?: string[];
  readonly queue?: string[];
  readonly name?: string[];
  readonly tag?: string[];
  readonly correlate?: string[];
  readonly awaits?: string[];
  readonly limit: number;
}

const exampleId = '01a20472-5ed1-7102-9962-bf1f1a0fa733';
const jobColumns = ['id', 'name', 'queue', 'state', 'attempt', 'createdAt'];
const stepColumns = ['name', 'kind', 'state', 'attempts', 'startedAt', 'durationMs', 'until', 'result'];

/** Adds the commands that call a running installation over HTTP. */
export function addHttpCommands(program: Command): void {
  const command = (name: string, description: string): Command => addHttpCommand(program, name, description);

  command('enqueue', 'Enqueue a job')
    .argument('<name>', 'the name of the job')
    .argument('[args]', 'its arguments as JSON', readJson, {})
    .option('--queue <name>', 'the queue; default: that of the job definition')
    .option('--priority <number>', 'from -100 (first) to 100', readInteger)
    .option('--delay-ms <number>', 'milliseconds to wait before the job may run', readInteger)
    .option('--run-at <time>', 'the earliest time to run it, such as 2027-01-31T08:00:00Z')
    .option('--max-attempts <number>', 'how many attempts it gets', readInteger)
    .option('--tag <tag...>', 'labels to find it by')
    .option('--unique <key>', 'enqueue no second job with this key while the first has not finished')
    .option('--idempotency-key <key>', 'get the same job again if this is repeated')
    .option('--correlate <key>', 'a key by which signals find it, such as order:4711')
    .option('--wait', 'wait until the job has finished, and show its log; exit code 1 unless it is done')
    .addHelpText('after', `\nExample: longshore enqueue greet '{"name":"Ada"}' --queue mail --wait`)
    .action(async (name: string, args: object, options: EnqueueOptions) => {
      const {
        queue,
        priority,
        delayMs,
        runAt,
        maxAttempts,
        tag: tags,
        unique: key,
        idempotencyKey,
        correlate,
        wait,
      } = options;
      const unique = key === undefined ? undefined : { key };
      const job = await new Installation(options).call<Item>('POST', 'jobs', {
        name,
        args,
        queue,
        priority,
        delayMs,
        runAt,
        maxAttempts,
        tags,
        unique,
        idempotencyKey,
        correlate,
      });
      if (wait === true) await showFollowed(new Installation(options), String(job['id']), true, options);
      else show(job, options, fields);
    });

  command(
    'enqueue-all',
    'Enqueue the jobs that are read from standard input, one JSON object a line, all or none',
  )
    .addHelpText('after', `\nExample: echo '{"name":"greet","args":{"name":"Ada"}}' | longshore enqueue-all`)
    .action(async (options: HttpOptions) => {
      const lines = (await text(process.stdin)).split('\n').filter((line) => line.trim() !== '');
      const jobs = await new Installation(options).call<Item[]>('POST', 'jobs', lines.map(readJson));
      show(jobs, options, (rows) => table(rows, jobColumns));
    });

  command('jobs', 'List jobs, latest first')
    .option('--state <state...>', 'only jobs in these states')
    .option('--queue <name...>', 'only jobs in these queues')
    .option('--name <name...>', 'only jobs with these names')
    .option('--tag <tag...>', 'only jobs with these tags')
    .option('--correlate <key...>', 'only jobs with these keys for signals')
    .option('--awaits <name...>', 'only jobs that wait for a signal with one of these names')
    .option('--limit <number>', 'the maximum number of jobs', readInteger, 20)
    .addHelpText('after', '\nExample: longshore jobs --state failed --queue mail --json')
    .action(async (options: ListOptions) => {
      const query = new URLSearchParams({ limit: String(options.limit), sort: '-createdAt' });
      for (const filter of ['state', 'queue', 'name', 'tag', 'correlate', 'awaits'] as const)
        for (const value of options[filter] ?? []) query.append(filter, value);
      await list(options, `jobs?${query.toString()}`, jobColumns);
    });

  command('job', 'Show a job')
    .argument('<id>', 'the id of the job', readId)
    .addHelpText('after', `\nExample: longshore job ${exampleId} --json`)
    .action(async (id: string, options: HttpOptions) => {
      show(await new Installation(options).call<Item>('GET', `jobs/${id}`), options, fields);
    });

  command('steps', 'Show the steps of a job, in the order in which they started')
    .argument('<id>', 'the id of the job', readId)
    .addHelpText('after', `\nExample: longshore steps ${exampleId}`)
    .action((id: string, options: HttpOptions) => list(options, `jobs/${id}/steps?limit=1000`, stepColumns));

  command('logs', 'Show the log of a job')
    .argument('<id>', 'the id of the job', readId)
    .option('--follow', 'follow the log until the job has finished; exit code 1 unless it is done')
    .addHelpText('after', `\nExample: longshore logs ${exampleId} --follow`)
    .action(async (id: string, options: HttpOptions & { readonly follow?: boolean }) => {
      await showFollowed(new Installation(options), id, options.follow === true, options);
    });

  command('statistics', 'Show how many attempts were done, failed and retried, in each of the latest periods')
    .addHelpText('after', '\nExample: longshore statistics --json')
    .action((options: HttpOptions) =>
      list(options, 'statistics', ['startsAt', 'done', 'failed', 'retried', 'backlog']),
    );
}

/**
 * Prints the log of a job. With `untilFinished`, also waits for the job to finish and prints the outcome. The exit code
 * is then 1 unless the job is `done`.
 */
async function showFollowed(
  installation: Installation,
  id: string,
  untilFinished: boolean,
  { json = false }: HttpOptions,
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
