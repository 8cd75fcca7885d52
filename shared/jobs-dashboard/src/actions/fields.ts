import { bounds, checkPauseEnd, maxPauseMs } from '@longshore/jobs/storage';
import type { Form } from '../shell/form.js';
import { Problem } from '../http/problem.js';
import { calendarMomentOf } from '../search/moment.js';

/** Returns the trimmed value of a form field; an empty string if the field is missing. */
export function textField(form: Form, name: string): string {
  return form.get(name)?.trim() ?? '';
}

/**
 * Returns the viewer's reason; `null` if the form contains none.
 *
 * @throws {Problem} if the reason is too long, or if a required reason is missing
 */
export function reasonField(form: Form, isRequired: boolean): string | null {
  const { max } = bounds.reasonLength;
  const reason = textField(form, 'reason');
  if (reason.length > max) throw invalidField('The reason', `at most ${max} characters long`);
  if (reason === '' && isRequired)
    throw invalidField('The reason', 'given, because this action requires one');
  return reason === '' ? null : reason;
}

/**
 * Returns when the requested pause ends; `null` for a pause without an end.
 *
 * @throws {Problem} if the end is malformed, not in the future, or more than a year ahead
 */
export function pauseEndField(form: Form, nowMs: number): Date | null {
  const text = textField(form, 'until');
  if (text === '') return endAfter(textField(form, 'for'), nowMs);
  const at = calendarMomentOf(text);
  if (at === null)
    throw invalidField('The end of the pause', 'a date and a time in UTC, such as 2026-03-01T14:05');
  try {
    return checkPauseEnd(at, nowMs);
  } catch {
    const now = new Date(nowMs).toISOString().slice(0, 16);
    throw invalidField(
      'The end of the pause',
      `later than ${now}, the current time in UTC, and at most a year ahead`,
    );
  }
}

/** @param minutes the duration of the pause; empty for a pause without an end */
function endAfter(minutes: string, nowMs: number): Date | null {
  if (minutes === '') return null;
  if (!/^[1-9]\d{0,5}$/.test(minutes) || Number(minutes) * 60_000 > maxPauseMs)
    throw invalidField('The duration of the pause', 'a number of minutes, up to a year');
  return new Date(nowMs + Number(minutes) * 60_000);
}

/**
 * Parses a form field as a count; `null` if the field is empty.
 *
 * @throws {Problem} if the value is not an integer from `min` to `max`
 */
export function countField(form: Form, name: string, { what, min, max }: CountRange): number | null {
  const text = textField(form, name).replaceAll(/[,_ ]/g, '');
  if (text === '') return null;
  const count = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= min && count <= max) return count;
  throw invalidField(what, `a whole number from ${min} to ${max.toLocaleString('en-US')}, or nothing`);
}

export interface CountRange {
  /** The name of the field, capitalized to begin a sentence. */
  readonly what: string;
  readonly min: number;
  readonly max: number;
}

export function invalidField(what: string, wanted: string): Problem {
  return new Problem({
    status: 422,
    title: 'This form has an invalid field',
    text: `${what} must be ${wanted}. Nothing was changed. Go back and correct it.`,
  });
}
