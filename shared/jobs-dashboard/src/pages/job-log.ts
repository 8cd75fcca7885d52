import { shorten } from '@longshore/edge';
import { ExactNumber, isFinished, type LogLevel, type LogLine, redact } from '@longshore/jobs/storage';
import { jsonTokens } from '../format/json-tokens.js';
import { badRequest, notFound } from '../http/problem.js';
import type { DashboardReader } from '../reading/dashboard-reader.js';
import type { Page, PageContext, PageRequest, Region } from '../shell/page.js';
import { readRows } from './list-page.js';

/** How many of the latest log lines the log region of a job page shows. */
const FEW_LINES = 25;

/** How many of the latest log lines a job page reads for the list of attempts. */
const ATTEMPT_LINES = 100;

const LINES = 500;

/**
 * Creates the region with the end of a job's log.
 *
 * @param running whether the job is unfinished; if so, the log is streamed
 */
export function logRegion(id: string, running: boolean, context: PageContext): Region {
  return {
    name: 'log',
    view: 'job-log-tail',
    everyMs: running ? 2_000 : 10_000,
    ...(running ? { stream: `jobs/${id}/stream` } : {}),
    load: async () => {
      const { leftOut, lines } = await readLogEnd(id, context.reader, FEW_LINES);
      const rows = lines.map((line) => logRow(line, context.redact));
      return { id, leftOut, running, lines: rows, after: attemptBefore(lines) };
    },
  };
}

/** Reads the latest lines of a job's log. `leftOut` is the number of earlier lines. */
export async function readLogEnd(
  id: string,
  reader: DashboardReader,
  limit: number = ATTEMPT_LINES,
): Promise<{ leftOut: number; lines: readonly LogLine[] }> {
  const leftOut = Math.max(0, (await reader.reports.countLogs(id)) - limit);
  return { leftOut, lines: await reader.reports.listLogs(id, { offset: leftOut, limit }) };
}

/**
 * Returns the attempt number that the view starts from. The view inserts a heading wherever the attempt number changes.
 * If a line belongs to a retry, returns 0, so that the first line gets a heading. Otherwise, returns `undefined`, so
 * that there are no headings.
 */
function attemptBefore(lines: readonly Pick<LogLine, 'attempt'>[]): number | undefined {
  return lines.some(({ attempt }) => attempt > 1) ? 0 : undefined;
}

export async function jobLogPage({ params, query }: PageRequest, context: PageContext): Promise<Page> {
  const id = params['id'] ?? '';
  const job = await context.reader.jobs.find(id);
  if (job === null) throw notFound('There is no such job', `No job has the id “${id}”.`);
  const after = query.get('after');
  if (after !== null && !/^[\w.:-]{1,80}$/.test(after))
    throw badRequest('There is no such place in the log', `“${after}” is not a line.`);
  const attempt = query.get('attempt');
  if (attempt !== null && !/^[1-9]\d{0,4}$/.test(attempt))
    throw badRequest('There is no such attempt', `“${attempt}” is not the number of an attempt.`);
  const whole = attempt === null ? `jobs/${id}/log?` : `jobs/${id}/log?attempt=${attempt}&`;
  return {
    title: `Log of ${attempt === null ? '' : `attempt ${attempt} of `}${job.name}`,
    section: 'jobs',
    view: 'page',
    kicker: { path: `jobs/${id}`, text: 'Job' },
    regions: [
      {
        name: 'log',
        view: 'job-log-page',
        everyMs: isFinished(job.state) ? 30_000 : 5_000,
        load: async () => {
          const position = {
            ...(after === null ? {} : { after }),
            ...(attempt === null ? {} : { attempt: Number(attempt) }),
          };
          const { rows, isComplete } = await readRows(LINES, (limit) =>
            context.reader.reports.listLogs(id, { limit, ...position }),
          );
          const lines = rows.map((line) => logRow(line, context.redact));
          return {
            lines,
            after: attempt === null ? attemptBefore(lines) : undefined,
            order: 'oldest',
            first: after === null ? null : whole.slice(0, -1),
            next: isComplete ? null : `${whole}after=${encodeURIComponent(lines.at(-1)?.id ?? '')}`,
          };
        },
      },
    ],
  };
}

interface LogRow {
  readonly id: string;
  readonly attempt: number;
  readonly at: Date;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: readonly { readonly key: string; readonly value: string }[];
}

const MAX_VALUE = 500;

/** Converts a log line for display. Values under keys that match `pattern` are redacted, at any depth. */
export function logRow({ fields, ...line }: LogLine, pattern: RegExp): LogRow {
  const shown = redact(fields ?? {}, pattern);
  const members =
    shown !== null && typeof shown === 'object' && !(shown instanceof ExactNumber)
      ? Object.entries(shown)
      : [];
  return {
    ...line,
    fields: members.map(([key, value]) => ({
      key,
      value: shorten(
        jsonTokens(value, MAX_VALUE)
          .tokens.map(({ text }) => text.replaceAll(/\n\s*/g, ' '))
          .join(''),
        MAX_VALUE,
        '…',
      ),
    })),
  };
}
