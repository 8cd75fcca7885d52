import {
  apiKeyOperations,
  batchOperations,
  bulkOperations,
  deploymentOperations,
  jobOperations,
  jobSetOperations,
  jobStepOperations,
  incidentOperations,
  installationOperations,
  jobTypeOperations,
  type OperationDescription,
  queueOperations,
  recurringJobOperations,
  serverOperations,
  setAsideOperations,
} from '@longshore/jobs/operations';
import type { Command } from 'commander';
import { readId, readInteger, readJson } from './arguments.js';
import { addHttpCommand, type HttpOptions, Installation, list, show } from './installation.js';
import { fields, type Item, printError, table } from './output.js';

/** A collection of the API. */
interface Place {
  readonly path: string;
  /** What identifies an item. */
  readonly key: 'id' | 'name';
  /** The field that the argument of the command for a new item sets; `key` by default. */
  readonly creates?: string;
}

/** A collection, and the operations that it serves. */
interface Collection extends Place {
  readonly columns: readonly string[];
  readonly operations: readonly OperationDescription[];
}

/** The collections that have a command of their own, by its name. `longshore queues` lists, `longshore queues pause` changes. */
const collections: Readonly<Record<string, Collection>> = {
  queues: {
    path: 'queues',
    key: 'name',
    columns: ['name', 'enqueued', 'processing', 'failed', 'servers', 'pausedAt'],
    operations: [
      queueOperations.create,
      queueOperations.limit,
      queueOperations.limitKey,
      queueOperations.pause,
      queueOperations.resume,
      queueOperations.purge,
      queueOperations.delete,
    ],
  },
  types: {
    path: 'job-types',
    key: 'name',
    columns: ['name', 'pausedAt', 'pausedBy', 'pausedUntil'],
    operations: [jobTypeOperations.pause, jobTypeOperations.resume],
  },
  recurring: {
    path: 'recurring-jobs',
    key: 'id',
    columns: ['id', 'name', 'cron', 'timeZone', 'every', 'nextDueAt', 'pausedAt'],
    operations: [
      recurringJobOperations.create,
      recurringJobOperations.edit,
      recurringJobOperations.trigger,
      recurringJobOperations.pause,
      recurringJobOperations.resume,
      recurringJobOperations.delete,
    ],
  },
  batches: {
    path: 'batches',
    key: 'id',
    columns: ['id', 'name', 'total', 'percent', 'failed', 'finishedAt'],
    operations: [batchOperations.cancel],
  },
  servers: {
    path: 'servers',
    key: 'id',
    columns: ['id', 'host', 'pid', 'state', 'queues', 'processing', 'heartbeatAt'],
    operations: [serverOperations.quiet, serverOperations.stop],
  },
  bulk: {
    path: 'bulk-operations',
    key: 'id',
    columns: ['id', 'action', 'state', 'matched', 'changed', 'restored', 'skipped', 'createdAt'],
    operations: [bulkOperations.stop],
  },
  'set-aside': {
    path: 'set-aside-items',
    key: 'id',
    columns: ['id', 'role', 'error', 'failedAt'],
    operations: [setAsideOperations.retry, setAsideOperations.discard],
  },
  incidents: {
    path: 'incidents',
    key: 'id',
    columns: ['id', 'text', 'since', 'endedAt', 'acknowledgedBy', 'mutedUntil'],
    operations: Object.values(incidentOperations),
  },
  installations: {
    path: 'installations',
    key: 'name',
    columns: ['name', 'pausedAt'],
    operations: Object.values(installationOperations),
  },
  deployments: {
    path: 'deployments',
    key: 'id',
    creates: 'version',
    columns: ['id', 'version', 'at', 'source', 'note'],
    operations: [deploymentOperations.record, deploymentOperations.delete],
  },
  keys: {
    path: 'api-keys',
    key: 'id',
    creates: 'name',
    columns: ['id', 'name', 'scopes', 'queues', 'expiresAt', 'createdAt'],
    operations: Object.values(apiKeyOperations),
  },
};

const examples: Readonly<Record<string, string>> = {
  id: '01a20472-5ed1-7102-9962-bf1f1a0fa733',
  name: 'mail',
  version: '1.4.0',
};

/** The operations that are a method of their collection or of its items. All others are verbs: `PUT /queues/mail/pause`. */
const methods: Readonly<Record<string, 'POST' | 'PATCH' | 'DELETE'>> = {
  create: 'POST',
  record: 'POST',
  edit: 'PATCH',
  limit: 'PATCH',
  delete: 'DELETE',
  discard: 'DELETE',
};
const jobsCollection = { path: 'jobs', key: 'id' } as const;
const filters = ['state', 'queue', 'name', 'tag'] as const;
const jobColumns = ['id', 'name', 'queue', 'state', 'attempt', 'createdAt'];

type OperationOptions = HttpOptions & Readonly<Record<string, unknown>>;

/** Adds the commands that change what an installation has. They are made of the declarations of its operations. */
export function addOperationCommands(program: Command): void {
  for (const operation of [
    jobOperations.cancel,
    jobOperations.retry,
    jobOperations.run,
    jobOperations.reschedule,
    jobOperations.rename,
    jobOperations.delete,
  ])
    addJobCommand(program, operation);
  addEditCommand(program);
  addStepCommands(program);
  for (const [name, collection] of Object.entries(collections)) {
    const group = addHttpCommand(
      program,
      name,
      `List ${collection.path.replaceAll('-', ' ')}, or change them`,
    )
      .addHelpText('after', `\nExample: longshore ${name}`)
      .action((options: HttpOptions) => list(options, `${collection.path}?limit=100`, collection.columns));
    for (const operation of collection.operations) {
      const { columns } = collection;
      const field = targetOf(collection, operation);
      withFields(addHttpCommand(group, operation.name, operation.summary), operation, field)
        .addHelpText('after', `\nExample: longshore ${name} ${operation.name} ${examples[field]}`)
        .argument(`<${field}...>`, `the ${field}s of what to change`)
        .action((targets: string[], _own: object, command: Command) => {
          const options = command.optsWithGlobals<OperationOptions>();
          const isNew = methods[operation.name] === 'POST'; // a new key has a secret, which is shown only now
          return changeEach(operation, collection, targets, options, (items) =>
            isNew ? items.map(fields).join('\n\n') : table(items, columns),
          );
        });
    }
  }
}

/** Returns the field that identifies what an operation changes or creates. */
function targetOf({ key, creates = key }: Place, { name }: OperationDescription): string {
  return methods[name] === 'POST' ? creates : key;
}

/** Adds a command that changes the jobs with certain ids, or all that match filters. */
function addJobCommand(program: Command, operation: OperationDescription): void {
  const verb = operation.name as keyof typeof jobSetOperations;
  const command = withFields(
    addHttpCommand(program, verb, `${operation.summary}, or all that match`),
    operation,
  )
    .argument('[id...]', 'the ids of the jobs', (id, ids: string[] | undefined) => [
      ...(ids ?? []),
      readId(id),
    ])
    .addHelpText('after', `\nExample: longshore ${verb} --queue mail --state failed`);
  for (const filter of filters)
    command.option(`--${filter} <${filter}...>`, `instead of ids: only jobs with this ${filter}`);
  for (const [name, field] of Object.entries<object>(jobSetOperations[verb].fields.properties))
    if (!(name in operation.fields.properties)) addField(command, name, field);
  command.action(async (targets: string[] | undefined, options: OperationOptions) => {
    const ids = targets ?? [];
    const query = new URLSearchParams();
    for (const filter of filters)
      for (const value of (options[filter] ?? []) as string[]) query.append(filter, value);
    if (ids.length > 0 === query.size > 0)
      throw new Error(`longshore ${verb} needs either the ids of jobs, or filters such as --queue`);
    if (ids.length > 0) {
      // A running job is still `processing` after a request to cancel it.
      const columns = operation === jobOperations.cancel ? [...jobColumns, 'cancelRequestedAt'] : jobColumns;
      return changeEach(operation, jobsCollection, ids, options, (jobs) => table(jobs, columns));
    }
    const alone = Object.keys(operation.fields.properties).find(
      (name) => options[name] !== undefined && !(name in jobSetOperations[verb].fields.properties),
    );
    if (alone !== undefined)
      throw new Error(`longshore ${verb} needs the ids of jobs for the option ${alone}`);
    const body = valuesOf(jobSetOperations[verb], options);
    const installation = new Installation(options);
    const started = await installation.call<Item>('PUT', `jobs/${verb}?${query.toString()}`, body);
    show(started, options, fields);
  });
}

/** Adds a command that changes jobs that have not started. */
function addEditCommand(program: Command): void {
  const { edit } = jobOperations;
  const command = withFields(addHttpCommand(program, 'edit', edit.summary), edit)
    .argument('<id...>', 'the ids of the jobs', (id, ids: string[] | undefined) => [
      ...(ids ?? []),
      readId(id),
    ])
    .addHelpText('after', `\nExample: longshore edit ${examples.id} --tags vip eu --max-attempts 5`);
  command.action((ids: string[], options: OperationOptions) => {
    const columns = [...jobColumns, 'maxAttempts', 'tags'];
    return changeEach(jobOperations.edit, jobsCollection, ids, options, (jobs) => table(jobs, columns));
  });
}

/** Adds the commands that concern the steps of one job, or the jobs with a key. */
function addStepCommands(program: Command): void {
  const { signal, rerunFrom } = jobStepOperations;
  const usage = `longshore signal ${examples.id} packed --data '{"weight":3}'`;
  const sending = addHttpCommand(program, 'signal', `${signal.summary}, or to all jobs with a key`)
    .argument('<target...>', 'the id of the job, unless --correlate is given, and the name of the signal')
    .option('--correlate <key>', 'instead of the id: the key that the jobs were enqueued with')
    .addHelpText('after', `\nExample: ${usage}\n         longshore signal --correlate order:4711 packed`);
  withFields(sending, signal, 'name').action((given: string[], options: OperationOptions) => {
    const { correlate } = options;
    if (given.length !== (correlate === undefined ? 2 : 1))
      throw new Error(
        'longshore signal needs the id of a job and the name of a signal, or --correlate and the name',
      );
    const values = { correlate, name: given.at(-1), ...valuesOf(signal, options) };
    const path = correlate === undefined ? `jobs/${readId(given[0] ?? '')}/signal` : 'jobs/signal';
    return changeSteps(path, values, options);
  });
  withFields(addHttpCommand(program, rerunFrom.name, rerunFrom.summary), rerunFrom, 'step')
    .argument('<id>', 'the id of the job', readId)
    .argument('<step>', 'the name of the first step to drop; those that started later are dropped, too')
    .addHelpText('after', `\nExample: longshore ${rerunFrom.name} ${examples.id} label`)
    .action((id: string, step: string, options: OperationOptions) =>
      changeSteps(`jobs/${id}/${rerunFrom.name}`, { step, ...valuesOf(rerunFrom, options) }, options),
    );
}

/** Sends a request that changes one job or several, and prints them. */
async function changeSteps(path: string, values: Item, options: OperationOptions): Promise<void> {
  const changed = await new Installation(options).call<Item | Item[]>('PUT', path, values);
  show(changed, options, (jobs) => table([jobs].flat(), [...jobColumns, 'awaits']));
}

/** Changes each target, and prints those that were changed. Reports the others, and exits with 1 if there are any. */
async function changeEach(
  operation: OperationDescription,
  collection: Place,
  targets: readonly string[],
  options: OperationOptions,
  format: (items: readonly Item[]) => string,
): Promise<void> {
  const installation = new Installation(options);
  const changed: Item[] = [];
  for (const target of targets) {
    try {
      changed.push(await change(installation, operation, collection, target, valuesOf(operation, options)));
    } catch (error) {
      printError(`${target}: ${(error as Error).message}`);
      process.exitCode = 1;
    }
  }
  if (changed.length > 0) show(changed, options, format);
}

/** Sends the request of an operation. */
async function change(
  installation: Installation,
  operation: OperationDescription,
  collection: Place,
  target: string,
  values: Item,
): Promise<Item> {
  const { path } = collection;
  const itemPath = `${path}/${encodeURIComponent(target)}`;
  switch (methods[operation.name]) {
    case 'POST':
      return installation.call<Item>('POST', path, { [targetOf(collection, operation)]: target, ...values });
    case 'PATCH':
      return installation.call<Item>('PATCH', itemPath, values);
    case 'DELETE':
      return {
        [collection.key]: target,
        ...(await installation.call<Item>('DELETE', `${itemPath}${reasonIn(values)}`)),
      };
    default:
      return installation.call<Item>('PUT', `${itemPath}/${operation.name}`, values);
  }
}

/** A value that was given as JSON. Wrapped, because the parser of options takes a null for an empty text. */
class GivenJson {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

function reasonIn({ reason }: Item): string {
  return typeof reason === 'string' ? `?reason=${encodeURIComponent(reason)}` : '';
}

/** Returns the fields of an operation that were given as options. */
function valuesOf({ fields: { properties } }: OperationDescription, options: OperationOptions): Item {
  const fieldNames = [...Object.keys(properties), 'reason'].filter((name) => options[name] !== undefined);
  return Object.fromEntries(
    fieldNames.map((name) => {
      const value = options[name];
      return [name, value instanceof GivenJson ? value.value : value];
    }),
  );
}

/** Adds the options of an operation: its fields, except the one that the argument sets, and the reason if its request has one. */
function withFields(
  command: Command,
  { name, fields: { properties } }: OperationDescription,
  argument?: string,
): Command {
  for (const [field, schema] of Object.entries<object>(properties))
    if (field !== argument) addField(command, field, schema);
  const hasReason = methods[name] === undefined || methods[name] === 'DELETE';
  return hasReason ? command.option('--reason <text>', 'why; kept in the audit log') : command;
}

function addField(command: Command, name: string, field: object): void {
  const { description = '' } = field as { readonly description?: string };
  const types = typesOf(field);
  const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (types.includes('boolean')) command.option(flag, description);
  else if (types.includes('string')) command.option(`${flag} <value>`, description);
  else if (types.includes('array')) command.option(`${flag} <value...>`, description);
  else if (types.join() === 'integer') command.option(`${flag} <number>`, description, readInteger);
  else command.option(`${flag} <json>`, description, (text) => new GivenJson(readJson(text)));
}

/** Returns the types that a field can have; none if it can have any. */
function typesOf(field: object): string[] {
  const { type, anyOf = [] } = field as { readonly type?: string; readonly anyOf?: readonly object[] };
  return type === undefined ? anyOf.flatMap(typesOf) : [type];
}
