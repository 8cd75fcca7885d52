import type { Form } from '../http/form.js';
import { Problem } from '../http/problem.js';

/** A field of a form without blanks around it; empty if it was not sent. */
export function textField(form: Form, name: string): string {
  return form.get(name)?.trim() ?? '';
}

/**
 * A count that somebody typed; `null` if the field was left empty.
 *
 * @throws {Problem} if it is no integer from `least` to `most`
 */
export function countField(form: Form, name: string, { what, least, most }: CountRange): number | null {
  const text = textField(form, name).replaceAll(/[,_ ]/g, '');
  if (text === '') return null;
  const count = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= least && count <= most) return count;
  throw invalidField(what, `a whole number from ${least} to ${most.toLocaleString('en-US')}, or nothing`);
}

export interface CountRange {
  /** What the page calls the field, at the beginning of a sentence. */
  readonly what: string;
  readonly least: number;
  readonly most: number;
}

export function invalidField(what: string, wanted: string): Problem {
  return new Problem({
    status: 422,
    title: 'This form cannot be used as it is',
    text: `${what} is to be ${wanted}. Nothing was changed; go back and correct it.`,
  });
}
