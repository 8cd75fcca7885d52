import type { Job } from '@longshore/jobs';
import { compareTexts } from '@longshore/edge';
import { editableStates, isName, parseExactly, statesOfAction } from '@longshore/jobs/storage';
import type { ArgumentField } from '../actions/argument-fields.js';
import { newJobFields } from '../actions/enqueueing.js';
import { fieldsOf, versionOf } from '../actions/job-edits.js';
import { stateWord } from '../format/state-badge.js';
import { notFound } from '../http/problem.js';
import type { Page, PageContext, PageRequest, Rejected } from '../shell/page.js';

/** The form that changes a job before it runs or, if it has failed or was cancelled, runs again. */
export async function jobEditPage({ params, rejected }: PageRequest, context: PageContext): Promise<Page> {
  const id = params['id'] ?? params['target'] ?? '';
  const { jobs } = context.reader;
  const [job, documents] = await Promise.all([jobs.find(id), jobs.findDocuments(id)]);
  if (job === null || documents === null)
    throw notFound('There is no such job', `No job has the id “${id}”. It may have been deleted.`);
  const isRetry = statesOfAction.retry.includes(job.state);
  const fields = fieldsOf(job, parseExactly(documents.args), context);
  const verb = isRetry ? 'edit-and-retry' : 'edit';
  return {
    title: `${isRetry ? 'Edit and retry' : 'Edit'} ${job.name}`,
    section: 'jobs',
    view: 'job-form',
    kicker: { path: `jobs/${id}`, text: 'Back to the job' },
    id,
    regions: [],
    data: {
      refusal:
        isRetry || editableStates.includes(job.state)
          ? ''
          : `This job is ${stateWord(job.state)}. Jobs can be edited until they start, and again once they have failed or were cancelled.`,
      action: `jobs/${id}/${verb}`,
      button: isRetry ? 'Retry with these values' : 'Save',
      type: '',
      isUnknown: false,
      version: versionOf(job),
      error: rejected?.errors.get('') ?? '',
      inputs: [...placeInputs(job, rejected), ...(isRetry ? [] : waitingInputs(job, rejected))],
      tags: isRetry ? [] : job.tags.map((tag) => keptTag(tag, rejected)),
      fields: fields.map((field) => shownField(field, rejected)),
      reason: rejected?.form.get('reason') ?? '',
    },
  };
}

/** The form that enqueues a job. It first asks for the type of the job, unless that is given. */
export async function newJobPage(
  { query, rejected }: PageRequest,
  { definitions, redact }: PageContext,
): Promise<Page> {
  const type = (rejected?.form.get('type') ?? query.get('type') ?? '').trim();
  const definition = definitions.get(type);
  const page = { section: 'jobs', regions: [], kicker: { path: 'jobs', text: 'Jobs' } } as const;
  if (!isName(type))
    return {
      ...page,
      title: 'Enqueue a job',
      view: 'job-type-form',
      data: { type, isInvalid: type !== '', names: [...definitions.keys()].toSorted(compareTexts) },
    };
  const { queue = 'default', priority = 0 } = definition ?? {};
  const fields = newJobFields(definition, redact);
  const soon = [
    { name: 'at', label: 'When', value: '', hint: 'now, if empty', kind: 'time' },
    { name: 'delay', label: 'Or after, in seconds', value: '', kind: 'number' },
    { name: 'tags', label: 'Tags, separated by commas', value: '' },
  ] as const;
  return {
    ...page,
    title: `Enqueue ${type}`,
    view: 'job-form',
    data: {
      refusal: '',
      action: 'enqueue',
      button: 'Enqueue',
      type,
      isUnknown: definition === undefined,
      error: rejected?.errors.get('') ?? '',
      fields: fields.map((field) => shownField(field, rejected)),
      inputs: [...placeInputs({ queue, priority }, rejected), ...soon.map((field) => input(field, rejected))],
      tags: [],
      reason: rejected?.form.get('reason') ?? '',
    },
  };
}

/** A field of the form for something other than an argument. */
interface FormInput {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly error: string;
  readonly kind: 'text' | 'number' | 'time';
  /** The time zone of a time. */
  readonly zone: string;
  readonly isRequired: boolean;
  readonly hint: string;
}

function placeInputs({ queue, priority }: Pick<Job, 'queue' | 'priority'>, rejected?: Rejected): FormInput[] {
  return [
    input({ name: 'queue', label: 'Queue', value: queue, isRequired: true }, rejected),
    input(
      { name: 'priority', label: 'Priority', value: String(priority), hint: 'Lower numbers run first' },
      rejected,
    ),
  ];
}

function waitingInputs({ maxAttempts }: Job, rejected?: Rejected): FormInput[] {
  const attempts = { name: 'maxAttempts', label: 'Maximum of attempts', value: String(maxAttempts) };
  return [
    input({ ...attempts, kind: 'number' }, rejected),
    input({ name: 'tags', label: 'New tags, separated by commas', value: '' }, rejected),
  ];
}

function input(
  field: Pick<FormInput, 'name' | 'label' | 'value'> & Partial<FormInput>,
  rejected?: Rejected,
): FormInput {
  const typed = rejected?.form.get(field.name);
  const error = rejected?.errors.get(field.name) ?? '';
  const zone = rejected?.form.get('zone') ?? 'UTC';
  return { kind: 'text', zone, isRequired: false, hint: '', error, ...field, value: typed ?? field.value };
}

function shownField(field: ArgumentField, rejected?: Rejected): object {
  // A secret that was entered is not shown, not even to who entered it.
  const typed = field.kind === 'secret' ? null : (rejected?.form.get(field.name) ?? null);
  return {
    ...field,
    value: typed?.replaceAll('\r\n', '\n') ?? field.value,
    error: rejected?.errors.get(field.name) ?? '',
    choices: field.choices.map((value) => ({ value, text: value.replace(/^"([^\\]*)"$/, '$1') })),
  };
}

function keptTag(tag: string, rejected?: Rejected): object {
  const value = JSON.stringify(tag);
  return { tag, value, isKept: rejected?.form.getAll('keep').includes(value) ?? true };
}
