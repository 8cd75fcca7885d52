import { createHash } from 'node:crypto';
import { InvalidArgumentsError, type Job, type JobDefinition, type JsonValue } from '@longshore/jobs';
import { type EditedValues, editOfOne, jobOperations } from '@longshore/jobs/operations';
import { bounds, type ExactJson, isName, parseExactly } from '@longshore/jobs/storage';
import { FieldErrors, notFound } from '../http/problem.js';
import type { Form } from '../shell/form.js';
import { type Action, action, type ActionRequest, textField } from './action.js';
import { type ArgumentField, argumentFields, argumentsIn } from './argument-fields.js';

/** The forms that change a job before it runs, or runs again. */
export const jobEditActions: readonly Action[] = [
  action(jobOperations.edit, {
    fields: async (request) => ({
      ...(await editedContent(request)),
      ...editedAttempts(request),
      ...editedTags(request),
    }),
    target: ({ target }, values) => editOfOne(target, values),
    check: requireShown,
    next: ({ ids: [id] }) => `jobs/${id}`,
  }),
  action(jobOperations.retry, {
    path: '/jobs/:target/edit-and-retry',
    fields: async (request) => {
      const { queue, ...content } = await editedContent(request);
      return {
        ...content,
        ...(queue !== undefined && { toQueue: queue }),
        dependents: request.form.get('dependents') === 'on',
      };
    },
    check: requireShown,
    next: (id) => `jobs/${id}`,
  }),
];

/** Returns what identifies the content of a job, so that a form can tell whether the job has changed since. */
export function versionOf(job: Job): string {
  const { name, state, attempt, queue, priority, maxAttempts, tags, args, runAt } = job;
  const content = JSON.stringify([name, state, attempt, queue, priority, maxAttempts, tags, args, runAt]);
  return createHash('sha1').update(content).digest('base64url').slice(0, 16);
}

/** Refuses to change a job that is no longer as the form showed it. */
function requireShown({ form }: ActionRequest): (job: Job) => void {
  return (job) => {
    if (form.get('version') === versionOf(job)) return;
    const text = 'The job has changed since this form was shown. Check your entries, and send the form again';
    throw new FieldErrors(new Map([['', text]]), 409);
  };
}

/**
 * Returns the fields for the arguments of a job. If its definition is known and has the same version, there is one for each
 * argument.
 */
export function fieldsOf(
  { name, version }: Pick<Job, 'name' | 'version'>,
  current: ExactJson,
  { definitions, redact }: Pick<ActionRequest, 'definitions' | 'redact'>,
): readonly ArgumentField[] {
  const definition = definitions.get(name);
  return argumentFields(definition?.version === version ? definition.schema : null, current, redact);
}

/** Returns the new queue, priority and arguments, without those that stay the same. */
async function editedContent(
  request: ActionRequest,
): Promise<Pick<EditedValues, 'queue' | 'priority' | 'args'>> {
  const { form, target, jobs, definitions, redact } = request;
  const [job, documents] = await Promise.all([jobs.find(target), jobs.findDocuments(target)]);
  if (job === null || documents === null)
    throw notFound('There is no such job', 'It may have been deleted. Nothing was changed.');
  requireShown(request)(job);
  const current = parseExactly(documents.args);
  const fields = fieldsOf(job, current, request);
  const errors = new Map<string, string>();
  const queue = queueIn(form, errors);
  const priority = priorityIn(form, errors);
  let args: JsonValue | undefined;
  if (fields.some(({ name, value, kind }) => kind !== 'kept' && changed(form, name, value)))
    args = collecting(errors, () => {
      const given = argumentsIn(form, fields, current, redact);
      checkArguments(given, definitions.get(job.name), job.version, fields);
      return given;
    });
  if (errors.size > 0) throw new FieldErrors(errors);
  return {
    ...(queue !== '' && queue !== job.queue && { queue }),
    ...(priority !== null && priority !== job.priority && { priority }),
    ...(args !== undefined && { args }),
  };
}

function changed(form: Form, name: string, value: string): boolean {
  const text = form.get(name);
  return text !== null && text.replaceAll('\r\n', '\n') !== value;
}

/** Calls `read`, and adds its errors in fields to `errors`. */
export function collecting<Result>(errors: Map<string, string>, read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FieldErrors)) throw error;
    for (const [name, text] of error.errors) errors.set(name, text);
    return undefined;
  }
}

/**
 * Checks arguments against the definition of their job, if it is known.
 *
 * @throws {FieldErrors} with what is wrong, by the name of the field
 */
export function checkArguments(
  args: JsonValue,
  definition: JobDefinition | undefined,
  version: number,
  fields: readonly ArgumentField[],
): void {
  if (definition === undefined) {
    if (typeof args === 'object' && args !== null && !Array.isArray(args)) return;
    throw new FieldErrors(new Map([['args', 'Write an object, such as {"orderId": 7}']]));
  }
  try {
    definition.check(args, version);
  } catch (error) {
    if (error instanceof RangeError) throw new FieldErrors(new Map([['args', error.message]]));
    if (!(error instanceof InvalidArgumentsError)) throw error;
    const errors = error.problems.map(({ path, message }): [string, string] => {
      const field = fields.find(
        ({ name }) =>
          path === name ||
          (/^[.[]/.test(path.slice(name.length, name.length + 1)) &&
            path.startsWith(name) &&
            name !== 'args'),
      );
      return [field?.name ?? 'args', `${path.replace(/^args\./, '')} ${message}`];
    });
    throw new FieldErrors(new Map(errors));
  }
}

/** Returns the queue in a form; empty if there is none. */
export function queueIn(form: Form, errors: Map<string, string>): string {
  const queue = textField(form, 'queue');
  if (queue !== '' && !isName(queue))
    errors.set(
      'queue',
      'Use 1 to 100 letters, digits, ".", "_", "-" and ":", beginning with a letter or digit',
    );
  return queue;
}

/** Returns the priority in a form; `null` if there is none. */
export function priorityIn(form: Form, errors: Map<string, string>): number | null {
  const text = textField(form, 'priority');
  if (text === '') return null;
  const { min, max } = bounds.priority;
  const priority = /^[-−]?\d{1,3}$/.test(text) ? Number(text.replace('−', '-')) : Number.NaN;
  if (!(priority >= min && priority <= max))
    errors.set('priority', `Write a whole number from ${min} to ${max}`);
  return priority;
}

function editedAttempts({ form }: ActionRequest): Pick<EditedValues, 'maxAttempts'> {
  const text = textField(form, 'maxAttempts');
  if (text === '') return {};
  const { min, max } = bounds.maxAttempts;
  const maxAttempts = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (maxAttempts >= min && maxAttempts <= max) return { maxAttempts };
  throw new FieldErrors(new Map([['maxAttempts', `Write a whole number from ${min} to ${max}`]]));
}

/** Returns the tags that are kept, and those that are added. */
function editedTags({ form }: ActionRequest): Pick<EditedValues, 'tags'> {
  return { tags: [...keptTags(form), ...tagsIn(form)] };
}

/** Returns the tags in a form, which are separated by commas. */
export function tagsIn(form: Form): string[] {
  return textField(form, 'tags')
    .split(',')
    .map((tag) => tag.trim())
    .filter(Boolean);
}

/** Returns the checked tags. Each is JSON text, because browsers change line breaks in the values of fields. */
function keptTags(form: Form): string[] {
  try {
    const tags = form.getAll('keep').map((text): unknown => JSON.parse(text));
    if (tags.every((tag) => typeof tag === 'string')) return tags;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new FieldErrors(new Map([['tags', 'Keep tags that the page shows']]));
}
