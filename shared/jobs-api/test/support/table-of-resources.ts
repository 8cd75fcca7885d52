/** The ids and names that replace the parameters in paths. */
export interface PathValues {
  /** A scheduled job. */
  readonly job: string;
  readonly finished: string;
  readonly queue: string;
  /** A queue without unfinished jobs. */
  readonly idle: string;
  readonly server: string;
  readonly recurring: string;
  readonly batch: string;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Row {
  readonly path: (places: PathValues) => string;
  /** The kind of route, as in the table of methods in docs/http-api.md. */
  readonly kind: 'collection' | 'item' | 'operation' | 'stream';
  /** The supported methods, each with a valid request body; `undefined` if the method takes none. */
  readonly offers: Partial<Record<Method, unknown>>;
  /** The path of an item that can be deleted, if the item at `path` cannot. */
  readonly deletable?: Row['path'];
}

export const newJob = { name: 'add', args: { a: 1, b: 2 } };
export const schedule = { ...newJob, cron: '0 3 * * *', queue: 'default', priority: 0, maxAttempts: 10 };
const read = { GET: undefined };
const verb = { PUT: undefined };

const collection = (path: Row['path'], offers: Row['offers'] = read): Row => ({
  path,
  kind: 'collection',
  offers,
});
const item = (path: Row['path'], offers: Row['offers'] = read): Row => ({ path, kind: 'item', offers });
const operation = (path: Row['path']): Row => ({ path, kind: 'operation', offers: verb });
const stream = (path: Row['path']): Row => ({ path, kind: 'stream', offers: read });

/**
 * The rows of the table "Resources of the job platform" in docs/http-api.md, ordered so that no row removes what a
 * later row needs.
 */
export const rows = (places: PathValues): readonly Row[] => [
  collection(() => '/jobs', {
    GET: undefined,
    POST: newJob,
    PUT: [{ id: places.job, priority: 4 }],
    DELETE: undefined,
  }),
  {
    ...item(({ job }) => `/jobs/${job}`, { GET: undefined, PATCH: { priority: 3 }, DELETE: undefined }),
    deletable: ({ finished }) => `/jobs/${finished}`,
  },
  collection(() => '/jobs/search/add'),
  ...['attempts', 'transitions', 'logs', 'continuations'].map((name) =>
    collection(({ job }) => `/jobs/${job}/${name}`),
  ),
  stream(({ job }) => `/jobs/${job}/events`),
  stream(() => '/events'),
  ...['run', 'cancel', 'retry'].map((name) => operation(({ job }) => `/jobs/${job}/${name}`)),
  collection(() => '/queues', { GET: undefined, POST: { name: 'newcomers', concurrencyLimit: 2 } }),
  {
    ...item(({ queue }) => `/queues/${queue}`, {
      GET: undefined,
      PUT: {},
      PATCH: { concurrencyLimit: 3 },
      DELETE: undefined,
    }),
    deletable: ({ idle }) => `/queues/${idle}`,
  },
  ...['pause', 'resume', 'purge'].map((name) => operation(({ queue }) => `/queues/${queue}/${name}`)),
  collection(({ queue }) => `/queues/${queue}/jobs`, { GET: undefined, POST: newJob }),
  collection(({ queue }) => `/queues/${queue}/jobs/search/add`),
  collection(() => '/recurring-jobs', {
    GET: undefined,
    POST: { ...schedule, id: 'another' },
    PUT: [{ ...schedule, id: 'row' }],
    DELETE: undefined,
  }),
  ...['trigger', 'pause', 'resume'].map((name) =>
    operation(({ recurring }) => `/recurring-jobs/${recurring}/${name}`),
  ),
  collection(({ recurring }) => `/recurring-jobs/${recurring}/jobs`),
  collection(({ recurring }) => `/recurring-jobs/${recurring}/occurrences`),
  item(({ recurring }) => `/recurring-jobs/${recurring}`, {
    GET: undefined,
    PUT: schedule,
    PATCH: { priority: 2 },
    DELETE: undefined,
  }),
  collection(() => '/batches', { GET: undefined, POST: { jobs: [newJob] } }),
  item(({ batch }) => `/batches/${batch}`),
  collection(({ batch }) => `/batches/${batch}/jobs`),
  operation(({ batch }) => `/batches/${batch}/cancel`),
  collection(() => '/job-definitions'),
  item(() => '/job-definitions/add'),
  collection(() => '/statistics'),
  collection(() => '/job-types'),
  item(() => '/job-types/add'),
  ...['pause', 'resume'].map((name) => operation(() => `/job-types/add/${name}`)),
  collection(() => '/deployments', { GET: undefined, POST: { version: '2.4.1' } }),
  collection(() => '/set-aside-items'),
  collection(() => '/incidents'),
  collection(() => '/installations'),
  item(() => '/installations/longshore'),
  operation(() => '/installations/longshore/resume'),
  collection(() => '/bulk-operations'),
  collection(() => '/audit-entries'),
  collection(() => '/servers'),
  item(({ server }) => `/servers/${server}`),
  collection(({ server }) => `/servers/${server}/jobs`),
  ...['quiet', 'stop'].map((name) => operation(({ server }) => `/servers/${server}/${name}`)),
];

/** A well-formed id that no item has. */
export const unknownId = '01890a5d-ac96-774b-bcce-b302099a8057';

export const unknownPlaces: PathValues = {
  job: unknownId,
  finished: unknownId,
  queue: unknownId,
  idle: unknownId,
  server: unknownId,
  recurring: unknownId,
  batch: unknownId,
};

/** The placeholders for path parameters in the documentation's table. */
export const namedPlaces: PathValues = {
  job: '{id}',
  finished: '{id}',
  queue: '{queue}',
  idle: '{queue}',
  server: '{id}',
  recurring: '{id}',
  batch: '{id}',
};
