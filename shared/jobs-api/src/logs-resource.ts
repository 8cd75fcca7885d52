import type { JobStorage } from '@longshore/jobs';
import { logLevels, type LogLine } from '@longshore/jobs/storage';
import { defineResource, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';

const LogItem = Type.Object({
  id: Type.String(),
  attempt: Type.Integer({ minimum: 1 }),
  at: Type.String({ format: 'date-time', description: 'By the clock of the server that ran the job' }),
  level: Type.Enum([...logLevels]),
  message: Type.String(),
  fields: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
});

/** `/jobs/{id}/logs`: what the job's handler logged, in the order of writing. */
export function logsResource(storage: Pick<JobStorage, 'jobs' | 'reports'>): Resource {
  return defineResource({
    name: 'logs',
    description: 'What the handler of one job logged, in the order of writing.',
    item: LogItem,
    serverSet: ['id', 'attempt', 'at', 'level', 'message', 'fields'],
    filters: { attempt: 'exact' },
    sort: [],
    search: [],
    storage: {
      list: async ({ filters, sort, limit, offset }, { parents }) => {
        const jobId = parents.at(-1)?.id ?? '';
        const [attempt] = filters.find(({ field }) => field === 'attempt')?.values ?? [];
        const query = attempt === undefined ? {} : { attempt: Number(attempt) };
        const total = await storage.reports.countLogs(jobId, query);
        if (sort[0]?.direction !== 'desc') {
          return {
            items: (await storage.reports.listLogs(jobId, { ...query, limit, offset })).map(toLogItem),
            total,
          };
        }
        const first = Math.max(0, total - offset - limit);
        const page = { limit: Math.max(0, total - offset - first), offset: first };
        return {
          items: (await storage.reports.listLogs(jobId, { ...query, ...page })).map(toLogItem).toReversed(),
          total,
        };
      },
    },
  });
}

function toLogItem(line: LogLine): Static<typeof LogItem> {
  return { ...line, at: line.at.toISOString() };
}
