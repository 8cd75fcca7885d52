import { defineJob, type JobDefinition } from '@longshore/jobs';
import { jobEnqueueing } from '@longshore/jobs/operations';
import { isName } from '@longshore/jobs/storage';
import { FieldErrors } from '../http/problem.js';
import { calendarMomentOf, typedText, zoneIn } from '../search/moment.js';
import { type Action, action, type ActionRequest, textField } from './action.js';
import { argumentFields, type ArgumentField, argumentsIn, defaultArguments } from './argument-fields.js';
import { checkArguments, collecting, priorityIn, queueIn, tagsIn } from './job-edits.js';

/** The form that enqueues a job. */
export const enqueueingAction: Action = action(jobEnqueueing, {
  path: '/enqueue',
  fields: newJob,
  target: (request) => definitionIn(request),
  next: (_definition, enqueued) => `jobs/${enqueued?.id}`,
});

/**
 * Returns the fields for the arguments of a new job, and what they show at first.
 *
 * @param definition its definition; absent if it is unknown
 */
export function newJobFields(
  definition: JobDefinition | undefined,
  redact: RegExp,
): readonly ArgumentField[] {
  const schema = definition?.schema ?? null;
  return argumentFields(schema, defaultArguments(schema), redact);
}

function definitionIn({ form, definitions }: ActionRequest): JobDefinition {
  const name = textField(form, 'type');
  const definition = definitions.get(name);
  if (definition !== undefined) return definition.name === name ? definition : { ...definition, name };
  const text = 'Use 1 to 100 letters, digits, ".", "_", "-" and ":", beginning with a letter or digit';
  if (!isName(name)) throw new FieldErrors(new Map([['type', text]]));
  return defineJob({ name });
}

function newJob(request: ActionRequest): Parameters<typeof jobEnqueueing.perform>[1]['fields'] {
  const { form, definitions, redact } = request;
  const definition = definitionIn(request);
  const known = definitions.get(definition.name);
  const errors = new Map<string, string>();
  const queue = queueIn(form, errors);
  const priority = priorityIn(form, errors);
  const tags = tagsIn(form);
  const time = timeIn(request, errors);
  const args = collecting(errors, () => {
    const fields = newJobFields(known, redact);
    const given = argumentsIn(form, fields, defaultArguments(known?.schema ?? null), redact);
    checkArguments(given, known, definition.version, fields);
    return given;
  });
  if (errors.size > 0) throw new FieldErrors(errors);
  return {
    name: definition.name,
    args,
    ...(queue !== '' && { queue }),
    ...(priority !== null && { priority }),
    ...(tags.length > 0 && { tags }),
    ...time,
  };
}

function timeIn(
  { form, nowMs }: ActionRequest,
  errors: Map<string, string>,
): { readonly runAt?: string; readonly delayMs?: number } {
  const [at, seconds] = [textField(form, 'at'), textField(form, 'delay')];
  if (at !== '' && seconds !== '') errors.set('delay', 'Give a time or a delay, not both');
  if (seconds !== '') {
    const delayMs = /^\d{1,9}(\.\d{1,3})?$/.test(seconds) ? Math.round(Number(seconds) * 1_000) : Number.NaN;
    if (!(delayMs <= 315_360_000_000)) errors.set('delay', 'Write a number of seconds, up to ten years');
    return { delayMs };
  }
  if (at === '') return {};
  const zone = zoneIn(form);
  const runAt = calendarMomentOf(at, zone);
  if (runAt !== null && runAt.getTime() > nowMs) return { runAt: runAt.toISOString() };
  const now = typedText(nowMs, zone);
  errors.set(
    'at',
    `Write a date and a time in ${zone} that is later than ${now}, or nothing to start it now`,
  );
  return {};
}
