import { JobClient, JobEvents, MemoryStorage, type RecurringJobOptions } from '@longshore/jobs';
import type { Resource } from '@longshore/resources';
import { expect } from 'chai';
import fc from 'fast-check';
import { jobsApi } from '../src/index.js';
import { NewJobItem } from '../src/job-item.js';
import { add, type ItemBody, onEachStorage } from './support/jobs-api-under-test.js';

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

type Body = Readonly<Record<string, unknown>>;

const later = { min: new Date('2100-01-01'), max: new Date('9000-01-01'), noInvalidDate: true };

/** Returns values of a schema. `given` has the values of the fields that cannot be made up, by their paths. */
function valuesOf(
  schema: Schema,
  given: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  path: readonly string[] = [],
): fc.Arbitrary<unknown> {
  const known = given[path.join('.')];
  if (known !== undefined) return known;
  const {
    minimum: min = 0,
    maximum: max = 0,
    minLength = 0,
    maxLength = 0,
    minItems = 0,
    maxItems = 0,
  } = schema;
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'integer':
      return fc.integer({ min, max });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.uniqueArray(valuesOf(schema.items ?? {}, given, [...path, '[]']), {
        minLength: minItems,
        maxLength: Math.min(maxItems, 5),
      });
    case 'object':
      return fc.record(
        Object.fromEntries(
          Object.entries(schema.properties ?? {}).map(([name, member]) => [
            name,
            valuesOf(member, given, [...path, name]),
          ]),
        ),
        { requiredKeys: [...(schema.required ?? [])] },
      );
    case 'string':
      if (schema.format === 'date-time') return fc.date(later).map((date) => date.toISOString());
      if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern));
      return fc.string({ minLength, maxLength: Math.min(maxLength, 20), unit: 'grapheme' });
    default:
      throw new Error(`There are no values for ${path.join('.')}: add some to this test`);
  }
}

/** Returns whether a job shows a field that it was given; by default, a field of the same name has all that was given. */
function shows(name: string, given: Body, item: ItemBody): boolean {
  // No delay is the same as a delay of 0.
  if (name === 'delayMs' && given[name] === 0) return item.runAt === null && (item['delayMs'] ?? 0) === 0;
  if (name === 'delayMs' && given['after'] === undefined) return isDelayed(Number(given[name]), item);
  return covers(item[name], given[name]);
}

/** A delay that starts at once is read as a time. Its start is between the time in the id and the answer. */
function isDelayed(delayMs: number, { createdAt, runAt }: ItemBody): boolean {
  const waited = Date.parse(String(runAt)) - Date.parse(String(createdAt)) - delayMs;
  return waited >= 0 && waited < 3_600_000;
}

function covers(read: unknown, given: unknown): boolean {
  if (Array.isArray(given))
    return (
      Array.isArray(read) && read.length === given.length && given.every((each, at) => covers(read[at], each))
    );
  if (typeof given !== 'object' || given === null) return Object.is(read, given);
  return Object.entries(given).every(([name, value]) => covers((read as Body | null)?.[name], value));
}

onEachStorage('Everything that a job is given', (api) => {
  it('can be read back, whatever POST /jobs accepts', async () => {
    const queues = [api.newName(), api.newName()];
    const runAt = '2100-01-01T00:00:00.000Z';
    const parents = await Promise.all([1, 2, 3].map(() => api.enqueue(api.newName(), { runAt })));
    const { item: batch } = await api.post('/batches', {
      jobs: [{ name: 'add', args: { a: 1, b: 2 }, runAt }],
    });
    const ids = [...parents, batch].map(({ id }) => id);
    const bodies = valuesOf(NewJobItem as Schema, {
      name: fc.constant('add'),
      version: fc.constant(1),
      args: fc.record({ a: fc.integer(), b: fc.integer() }),
      queue: fc.constantFrom(...queues),
      'after.parents.[]': fc.constantFrom(...ids),
    }) as fc.Arbitrary<Body>;
    const accepted = new Set<string>();
    await fc.assert(
      fc.asyncProperty(bodies, async ({ args = { a: 1, b: 2 }, ...body }) => {
        const given: Body = { ...body, args };
        const made = await api.post('/jobs', given);
        fc.pre(made.status === 201); // some options exclude each other, and another job may hold a key
        for (const name of Object.keys(given)) accepted.add(name);
        const { item } = await api.get(`/jobs/${made.item.id}`);
        const [listed] = (await api.get(`/jobs?queue=${String(item['queue'])}&limit=1`)).items;
        for (const read of [item, made.item, listed])
          expect(
            Object.keys(given).filter((name) => read === undefined || !shows(name, given, read)),
            `${JSON.stringify(given)} reads ${JSON.stringify(read)}`,
          ).to.deep.equal([]);
      }),
      { numRuns: 60, maxSkipsPerRun: 1_000 },
    );
    expect(accepted).to.have.all.keys(...Object.keys(NewJobItem.properties));
  });

  it('can be read back from a batch and its callback', async () => {
    const job = { name: 'add', args: { a: 1, b: 2 } };
    const callback = { ...job, timeoutMs: 5, concurrency: { key: 'k', limit: 3 }, delayMs: 7 };
    const made = await api.post('/batches', { name: 'B', jobs: [job], callback, callbackWhen: 'onFailed' });
    const { item } = await api.get(`/batches/${made.item.id}`);
    expect(item).to.deep.equal(made.item).and.to.include({ name: 'B', callbackWhen: 'onFailed' });
    const read = (await api.get(`/jobs/${String(item['callbackId'])}`)).item;
    const concurrency = { ...callback.concurrency, rate: null };
    expect(read).to.deep.include({
      ...callback,
      concurrency,
      after: { parents: [item.id], when: 'onFailed' },
    });
    const without = await api.post('/batches', { jobs: [job] });
    expect(without.item).to.include({ name: null, callbackId: null, callbackWhen: null });
  });

  it('is refused if it would be ignored: a callback that names parents of its own', async () => {
    const job = { name: 'add', args: { a: 1, b: 2 } };
    const parent = await api.enqueue(api.newName());
    const callback = { ...job, after: { parents: [parent.id] } };
    const refused = await api.post('/batches', { jobs: [job], callback });
    expect(refused.codes).to.deep.equal([42203]);
    expect(refused.text).to.contain('a callback waits for its batch');
  });
});

onEachStorage('Everything that a recurring job is given in code', (api) => {
  it('can be read over HTTP', async () => {
    const concurrency = { key: 'reports', limit: 2, rate: { jobs: 5, periodMs: 1_000, burst: 5 } };
    const unique = { key: 'k', periodMs: 1_000, states: ['enqueued'], onConflict: 'reject' } as const;
    const given: Required<Omit<RecurringJobOptions<typeof add>, 'definition'>> = {
      id: api.newName(),
      args: { a: 1, b: 2 },
      version: 1,
      cron: '30 2 * * *',
      timeZone: 'Europe/Berlin',
      every: null,
      anchor: null,
      misfire: 'all',
      misfireLimit: 7,
      overlap: 'wait',
      maxBacklog: 9,
      queue: api.newName(),
      priority: -4,
      maxAttempts: 3,
      timeoutMs: 5_000,
      tags: ['night', 'report'],
      concurrency,
      unique,
    };
    await new JobClient(api.storage).recurring.addOrUpdate({ ...given, definition: add });
    const { item } = await api.get(`/recurring-jobs/${given.id}`);
    expect(item).to.deep.include({ ...given, name: 'add' });
    const changed = await api.patch(`/recurring-jobs/${given.id}`, { priority: 5 });
    expect(changed.item).to.deep.include({ ...given, name: 'add', priority: 5 });
  });
});

describe('Every field of the body of a POST', () => {
  /** Where fields can be read that no field of the same name shows. */
  const elsewhere: Readonly<Record<string, readonly string[]>> = {
    batches: ['jobs', 'callback'], // GET /batches/{id}/jobs, and callbackId
  };
  const storage = new MemoryStorage();
  const resources: readonly Resource[] = jobsApi({
    storage,
    client: new JobClient(storage),
    events: new JobEvents(storage),
    definitions: [],
  });
  after(() => storage.close());

  for (const { name, bodies, fields } of resources)
    it(`is a field of the items of ${name}, too`, () => {
      const given = Object.keys(bodies.create.properties ?? {});
      expect([...fields, ...(elsewhere[name] ?? [])]).to.include.members(given);
    });
});
