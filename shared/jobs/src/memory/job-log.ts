import type { JsonValue } from '../job/job.js';
import type { LogLine } from '../job/job-log.js';
import type { JobReport, LogQuery } from '../storage/job-reports.js';
import { hasLease, type JobRecord } from './job-record.js';

/**
 * Stores a report and returns `true`. If the claim has lost the lease on the job, stores nothing and returns `false`.
 */
export function storeReport(
  record: JobRecord | undefined,
  { claim, progress, lines }: JobReport,
  writtenAt: Date,
): boolean {
  if (!hasLease(record, claim)) return false;
  if (progress !== null && progress.at >= (record.progress?.at ?? progress.at))
    record.progress = { ...progress, writtenAt };
  const known = new Set(record.log.map(({ id }) => id));
  for (const { line, at, level, message, fields } of lines) {
    const id = `${record.runs}.${line}`;
    if (known.has(id)) continue;
    const parsed = fields === null ? null : (JSON.parse(fields) as { [key: string]: JsonValue });
    record.logWrittenAt.push(writtenAt);
    record.log.push({ id, attempt: claim.attempt, at, level, message, fields: parsed });
  }
  return true;
}

export function linesOf(
  record: JobRecord | undefined,
  { attempt, after, limit = 100, offset = 0 }: LogQuery,
): LogLine[] {
  const log = record?.log ?? [];
  const start = after === undefined ? 0 : log.findIndex(({ id }) => id === after) + 1;
  return log
    .slice(start)
    .filter((line) => attempt === undefined || line.attempt === attempt)
    .slice(offset, offset + limit);
}
