import { parseTime } from '@longshore/edge';
import { type BulkPreview, finishedStates, isId } from '@longshore/jobs/storage';
import { badRequest, type Problem } from '../http/problem.js';

/** Formats the preview on a confirmation page as the value of a form field. */
export function confirmedField({ count, asOf, oldestSearchedIds }: BulkPreview): string {
  return JSON.stringify({ count, asOf: asOf.toISOString(), oldestSearchedIds });
}

/**
 * Parses a field formatted by {@link confirmedField}. Rejects an invalid value, because the action could otherwise
 * change more jobs than the page showed.
 *
 * @throws {Problem} (400) if the value is missing or invalid
 */
export function parseConfirmed(text: string | null): BulkPreview {
  const { count, asOf, oldestSearchedIds } = objectIn(text);
  const time = typeof asOf === 'string' ? parseTime(asOf) : undefined;
  if (time === undefined) throw unconfirmed();
  return { count: countIn(count), asOf: time, oldestSearchedIds: idsIn(oldestSearchedIds) };
}

function countIn(value: unknown): BulkPreview['count'] {
  if (value === null) return null;
  const { count, exact } = membersOf(value);
  if (!Number.isSafeInteger(count) || typeof exact !== 'boolean') throw unconfirmed();
  return { count: count as number, exact };
}

function idsIn(value: unknown): BulkPreview['oldestSearchedIds'] {
  const ids = membersOf(value);
  const known = finishedStates.flatMap((state) => {
    const id = ids[state];
    return typeof id === 'string' && isId(id) ? [[state, id] as const] : [];
  });
  if (known.length !== Object.keys(ids).length) throw unconfirmed();
  return Object.fromEntries(known);
}

function objectIn(text: string | null): Readonly<Record<string, unknown>> {
  try {
    return membersOf(JSON.parse(text ?? ''));
  } catch {
    throw unconfirmed();
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unconfirmed();
  return value as Readonly<Record<string, unknown>>;
}

function unconfirmed(): Problem {
  return badRequest(
    'It is not clear which jobs to change',
    'The form does not identify the jobs that the page showed. Nothing was changed. Go back and confirm the action again.',
  );
}
