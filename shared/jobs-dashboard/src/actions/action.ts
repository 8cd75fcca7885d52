import type { JobDefinition, JsonValue } from '@longshore/jobs';
import {
  actionOf,
  type Call,
  countOf,
  type Facts,
  kinds,
  type OperableStorage,
  type Operation,
  type OperationDescription,
  recordedValues,
} from '@longshore/jobs/operations';
import { bounds, checkPauseEnd, type JobReader, maxPauseMs } from '@longshore/jobs/storage';
import type { Static, TObject } from 'typebox';
import type { Viewer } from '../auth/authenticator.js';
import { conflict, InterruptedAction, notFound, Problem } from '../http/problem.js';
import { calendarMomentOf, typedText, zoneIn } from '../search/moment.js';
import type { Form } from '../shell/form.js';

/** A submitted form that requests an action, with its context. */
export interface ActionRequest {
  /** The part of the path that identifies what to change, such as the id of a job. */
  readonly target: string;
  readonly form: Form;
  readonly viewer: Viewer;
  /** The client’s address, as the application sees it. */
  readonly address: string;
  /** The current time, in milliseconds since 1970. */
  readonly nowMs: number;
  /** The viewer's reason; `null` if they gave none. */
  readonly reason: string | null;
  readonly redact: RegExp;
  /** Reads jobs as they are now. */
  readonly jobs: Pick<JobReader, 'find' | 'findDocuments'>;
  /** The definitions of jobs that are known, by name. */
  readonly definitions: ReadonlyMap<string, JobDefinition>;
}

/** A completed action, reported to the host application, for example for logging. */
export interface ActionRecord {
  readonly viewer: Viewer;
  /** The client’s address, as the application sees it. */
  readonly address: string;
  /** The name of the action in the audit log, such as `jobs/retry` or `queues/pause`. */
  readonly action: string;
  /** The id or name of what was changed; `null` if there is no single target. */
  readonly target: string | null;
  /** The number of affected jobs or other targets: 0 if no change was needed, `null` if counting took too long. */
  readonly count: number | null;
  /** `false` if `count` is a lower bound or `null`. */
  readonly exact: boolean;
  /** The jobs of a bulk action; `null` for other actions. */
  readonly filter: JsonValue;
  /** The submitted values; `null` if there are none. */
  readonly values: JsonValue;
  /** The values before the change; `null` if unknown. */
  readonly before: JsonValue;
  /** The viewer's reason; `null` if they gave none. */
  readonly reason: string | null;
}

/** The result of an action that was carried out, or that turned out not to be needed. */
export interface ActionResult {
  /** The page to show next, as a path inside the dashboard. */
  readonly next: string;
  readonly changed: boolean;
  readonly record: ActionRecord;
}

/** A form of the dashboard, which requests an operation. */
export interface Action {
  /** The path inside the dashboard. `:target` stands for the id or name of the thing to change. */
  readonly path: `/${string}`;
  readonly operation: OperationDescription;
  /**
   * Reads a submitted form, and returns the function that carries the action out.
   *
   * @throws {Problem} if the form is invalid
   */
  readonly read: (request: ActionRequest) => Promise<(storage: OperableStorage) => Promise<ActionResult>>;
}

interface ActionForm<Target, Fields, After, Subject> {
  /** Defaults to the operation's kind, `:target` and its name. */
  readonly path?: Action['path'];
  /** Returns what to change; by default, what the path names. Some names, such as `..`, cannot be part of a path. */
  readonly target?: (request: ActionRequest, fields: Fields) => Target;
  /** Returns the jobs of a bulk action as the audit log records them. */
  readonly selected?: (request: ActionRequest) => { readonly [member: string]: JsonValue };
  /** Returns the operation's fields; by default, each is a checkbox. */
  readonly fields?: (request: ActionRequest) => Fields | Promise<Fields>;
  /** Returns the check of the subject immediately before the change, which throws a Problem to refuse it. */
  readonly check?: (request: ActionRequest) => (subject: Subject) => void;
  /** Returns the page to show next. `after` is the target after the operation. */
  readonly next: (target: Target, after: After, request: ActionRequest) => string;
}

/**
 * Declares a form for an operation.
 *
 * The action throws a {@link Problem} if the operation is refused, and an {@link InterruptedAction} if it fails for any
 * other reason.
 */
export function action<Fields extends TObject, Subject, Target, After>(
  operation: Operation<Fields, Subject, Target, After>,
  form: ActionForm<Target, Static<Fields>, After | null, Subject>,
): Action {
  const { path = `/${operation.on}/:target/${operation.name}`, next } = form;
  const targetOf = form.target ?? (({ target }) => target as Target);
  const fieldsOf = form.fields ?? ((request) => checkboxes(operation.fields, request.form) as Static<Fields>);
  return {
    path,
    operation,
    read: async (request) => {
      const fields = await fieldsOf(request);
      const target = targetOf(request, fields);
      const check = form.check?.(request);
      const selected = form.selected?.(request);
      return async (storage) => {
        const { viewer, address, reason } = request;
        const by = {
          name: viewer.name,
          via: 'dashboard',
          visibleQueues: null, // roles limit what viewers do, not which jobs they see
          address,
          isUnverified: viewer.unverified === true,
        } as const;
        const call = { target, fields, selected, by, reason, check };
        const { facts, subject } = await carriedOut(operation, storage, call);
        if (facts.outcome === 'unknown' || facts.outcome === 'illegal') throw refusal(operation, facts);
        return {
          next: next(target, subject, request),
          changed: facts.outcome === 'done',
          record: recordOf(operation, request, call, facts),
        };
      };
    },
  };
}

async function carriedOut<Fields extends TObject, Subject, Target, After>(
  operation: Operation<Fields, Subject, Target, After>,
  storage: OperableStorage,
  call: Call<Target, Static<Fields>, Subject>,
): ReturnType<Operation<Fields, Subject, Target, After>['perform']> {
  let isDecided = false;
  try {
    return await operation.perform(storage, { ...call, onDecided: () => (isDecided = true) });
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (error instanceof RangeError)
      throw new Problem({
        status: 422,
        title: 'This form has an invalid field',
        text: `${error.message}. Nothing was changed.`,
      });
    throw new InterruptedAction(isDecided ? 'unknown' : 'undone', error);
  }
}

function refusal(
  operation: OperationDescription,
  facts: Facts & { outcome: 'unknown' | 'illegal' },
): Problem {
  const { noun = kinds[operation.on].noun } = operation;
  if (facts.outcome === 'unknown')
    return notFound(
      `There is no such ${noun}`,
      'It may have been deleted, or removed after its retention time. Nothing was changed.',
    );
  const why = `${facts.why.slice(0, 1).toUpperCase()}${facts.why.slice(1)}`;
  return conflict(`This ${noun} cannot be ${operation.done}`, `${why}. Nothing was changed.`);
}

function recordOf(
  operation: OperationDescription,
  { viewer, address, reason }: ActionRequest,
  call: Pick<Call<unknown, unknown, never>, 'target' | 'fields' | 'selected'>,
  facts: Facts & { outcome: 'done' | 'unchanged' },
): ActionRecord {
  const { count, exactly } = countOf(facts);
  return {
    viewer,
    address,
    action: actionOf(operation),
    target: facts.target ?? (typeof call.target === 'string' ? call.target : null),
    count: exactly === 'not' ? null : count,
    exact: exactly === 'exactly',
    filter: call.selected ?? null,
    values: recordedValues(call.fields),
    before: facts.before ?? null,
    reason,
  };
}

function checkboxes({ properties }: TObject, form: Form): Readonly<Record<string, boolean>> {
  return Object.fromEntries(Object.keys(properties).map((name) => [name, form.get(name) === 'on']));
}

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
 * @throws {Problem} if the end is malformed, given twice, not in the future, or more than a year ahead
 */
export function pauseEndField(form: Form, nowMs: number): Date | null {
  const [text, minutes] = [textField(form, 'until'), textField(form, 'for')];
  if (text === '') return endAfter(minutes, nowMs);
  if (minutes !== '') throw invalidField('The end of the pause', 'chosen or entered, not both');
  const { at, zone, now } = timeField(form, 'until', { what: 'The end of the pause', nowMs });
  try {
    return checkPauseEnd(at, nowMs);
  } catch {
    throw invalidField(
      'The end of the pause',
      `later than ${now}, the current time in ${zone}, and at most a year ahead`,
    );
  }
}

/** A time in a form. */
interface TypedTime {
  readonly at: Date;
  /** The time zone in which it was entered. */
  readonly zone: string;
  /** The current time in that zone, as people type it. */
  readonly now: string;
}

/**
 * Parses a form field as a time in the form's time zone.
 *
 * @param options.what the name of the field, capitalized to begin a sentence
 * @throws {Problem} if the field is not a time, or the time zone is unknown
 */
export function timeField(
  form: Form,
  name: string,
  { what, nowMs }: { readonly what: string; readonly nowMs: number },
): TypedTime {
  const zone = zoneIn(form);
  const at = calendarMomentOf(textField(form, name), zone);
  if (at === null) throw invalidField(what, `a date and a time in ${zone}, such as 2026-03-01T14:05`);
  return { at, zone, now: typedText(nowMs, zone) };
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

interface CountRange {
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
