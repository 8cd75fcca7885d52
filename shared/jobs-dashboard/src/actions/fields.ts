import type { Form } from '../http/form.js';
import { Problem } from '../http/problem.js';

/** Returns a field of a form, trimmed; empty if it is missing. */
export function textField(form: Form, name: string): string {
  return form.get(name)?.trim() ?? '';
}

/**
 * Returns the count in a field of a form; `null` if the field is empty.
 *
 * @throws {Problem} if it is not an integer from `least` to `most`
 */
export function countField(form: Form, name: string, { what, least, most }: CountRange): number | null {
  const text = textField(form, name).replaceAll(/[,_ ]/g, '');
  if (text === '') return null;
  const count = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= least && count <= most) return count;
  throw invalidField(what, `a whole number from ${least} to ${most.toLocaleString('en-US')}, or nothing`);
}

export interface CountRange {
  /** The name of the field, as the beginning of a sentence. */
  readonly what: string;
  readonly least: number;
  readonly most: number;
}

export function invalidField(what: string, wanted: string): Problem {
  return new Problem({
    status: 422,
    title: 'This form has an invalid field',
    text: `${what} must be ${wanted}. Nothing was changed. Go back and correct it.`,
  });
}
