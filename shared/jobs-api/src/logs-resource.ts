import type { JobStorage } from '@longshore/jobs';
import { logLevels, type LogLine } from '@longshore/jobs/storage';
import { type CollectionQuery, defineResource, type Page, pageOf, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { members, nullable } from './fields.js';
import { writtenByServers } from './not-allowed.js';

const LogItem = Type.Object({
  id: Type.String({
    maxLength: 20,
    description: 'The ID of the log line; later lines have higher IDs',
  }),
  attempt: Type.Integer({ minimum: 1, description: 'The attempt that logged the line' }),
  at: Type.String({
    format: 'date-time',
    description: 'When it was logged, by the clock of the server that ran the job',
  }),
  level: Type.Enum([...logLevels]),
  message: Type.String(),
  fields: nullable(members('LogData', 'Structured data logged with the message')),
});

type Item = Static<typeof LogItem>;

/** A search examines at most this many of the latest log lines. */
const maxSearched = 10_000;

/** `/jobs/{id}/logs`: the lines that a job's handler logged, oldest first. */
export function logsResource(storage: Pick<JobStorage, 'jobs' | 'reports'>): Resource {
  return defineResource({
    name: 'logs',
    singular: 'log-line',
    description: 'The lines that the handler of a job logged, oldest first.',
    item: LogItem,
    serverSet: ['id', 'attempt', 'at', 'level', 'message', 'fields'],
    filters: {
      attempt: {
        field: 'attempt',
        match: 'exact',
        single: true,
        description: 'Only lines of this attempt.',
      },
    },
    sort: [], // sorting by id is always allowed; no other field has an index, and a log can be long
    search: ['message', 'level'],
    notAllowed: writtenByServers,
    storage: {
      list: (query, { parents }) => {
        const log = new JobLog(storage, parents.at(-1)?.id ?? '', query);
        return query.search === undefined ? log.page() : log.search();
      },
    },
  });
}

/** Reads the log lines of a job that match a query. */
class JobLog {
  readonly #storage: Pick<JobStorage, 'reports'>;
  readonly #jobId: string;
  readonly #query: CollectionQuery;
  readonly #selected: { readonly attempt?: number };

  constructor(storage: Pick<JobStorage, 'reports'>, jobId: string, query: CollectionQuery) {
    this.#storage = storage;
    this.#jobId = jobId;
    this.#query = query;
    const [attempt] = query.filters.find(({ field }) => field === 'attempt')?.values ?? [];
    this.#selected = attempt === undefined ? {} : { attempt: Number(attempt) };
  }

  async page(): Promise<Page<Item>> {
    const { sort, limit, offset } = this.#query;
    const total = await this.#count();
    if (sort[0]?.direction !== 'desc') return { items: await this.#lines(offset, limit), total };
    const first = Math.max(0, total - offset - limit);
    return { items: (await this.#lines(first, Math.max(0, total - offset - first))).toReversed(), total };
  }

  async search(): Promise<Page<Item>> {
    const total = await this.#count();
    const first = Math.max(0, total - maxSearched);
    const lines = await this.#lines(first, maxSearched);
    if (this.#query.sort[0]?.direction === 'desc') lines.reverse();
    const page = pageOf(lines, { ...this.#query, sort: [] }); // sorted already; `pageOf` would sort ids as text
    return first === 0 ? page : { ...page, estimated: true, partial: true };
  }

  #count(): Promise<number> {
    return this.#storage.reports.countLogs(this.#jobId, this.#selected);
  }

  async #lines(offset: number, limit: number): Promise<Item[]> {
    const lines = await this.#storage.reports.listLogs(this.#jobId, { ...this.#selected, limit, offset });
    return lines.map(toLogItem);
  }
}

function toLogItem(line: LogLine): Item {
  return { ...line, at: line.at.toISOString() };
}
