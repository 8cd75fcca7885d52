import { ReadTimeoutError, StorageUnavailableError } from '@longshore/jobs';
import { ReadTooSlowError } from '../cache/deadline.js';

/** The content of an error page, and the headers of its response. */
interface ProblemText {
  readonly status: number;
  readonly title: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error that the dashboard answers with an error page. */
export class Problem extends Error {
  override readonly name = 'Problem';

  readonly content: ProblemText;

  constructor(content: ProblemText) {
    super(content.title);
    this.content = content;
  }
}

/** An error in certain fields of a form, which is then shown again with what was entered. */
export class FieldErrors extends Problem {
  /** What to do, by the name of the field; the empty name stands for the whole form. */
  readonly errors: ReadonlyMap<string, string>;

  constructor(errors: ReadonlyMap<string, string>, status: 409 | 422 = 422) {
    const [first = ''] = errors.values();
    super({ status, title: 'This form has an invalid field', text: `${first}. Nothing was changed.` });
    this.errors = errors;
  }
}

export function notFound(title: string, text: string): Problem {
  return new Problem({ status: 404, title, text });
}

export function conflict(title: string, text: string): Problem {
  return new Problem({ status: 409, title, text });
}

export function badRequest(title: string, text: string): Problem {
  return new Problem({ status: 400, title, text });
}

/** Returns the content of the error page for an error. For an unexpected error, shows only the incident id. */
export function problemOf(error: unknown, incident: string): ProblemText {
  if (error instanceof Problem) return error.content;
  if (error instanceof InterruptedAction) return problemOfAction(error, incident);
  // Before the more general error, because a storage that is slow does respond.
  if (error instanceof ReadTooSlowError || error instanceof ReadTimeoutError) {
    return {
      status: 503,
      title: 'The storage is too slow',
      text: 'It did not respond within the time limit of this page. Other pages may work. Reload this one to try again. If it stays slow, a transaction may hold a lock on a table, which pg_stat_activity shows.',
      headers: { 'Retry-After': '5' },
    };
  }
  if (error instanceof StorageUnavailableError) {
    return {
      status: 503,
      title: 'The storage is unavailable',
      text: `${error.summary}. The dashboard is running, and accepted jobs are safe. Reload this page to try again.`,
      headers: { 'Retry-After': '5' },
    };
  }
  if (isRequestError(error)) {
    return { status: error.status, title: 'Invalid request', text: error.message };
  }
  return {
    status: 500,
    title: 'Something went wrong',
    text: `The dashboard could not show this page. The log has the cause under incident ${incident}.`,
  };
}

const completionTexts: Readonly<Record<Completion, string>> = {
  undone: 'The action was not carried out. Nothing was changed.',
  unknown:
    'It is not known whether the action was carried out. If it was, the audit has an entry. Check before you repeat it.',
};

/**
 * Returns the content of the error page for an interrupted action. The page does not suggest reloading, because that
 * would repeat the action.
 */
function problemOfAction({ completion, cause }: InterruptedAction, incident: string): ProblemText {
  if (cause instanceof StorageUnavailableError) {
    const text = `${completionTexts[completion]} The job storage does not respond. Accepted jobs are safe.`;
    return { ...problemOf(cause, incident), text };
  }
  const text = `${completionTexts[completion]} The log has the cause under incident ${incident}.`;
  return { ...problemOf(cause, incident), text };
}

/** Returns whether the error comes from `http-errors` and can be shown to the client. */
function isRequestError(error: unknown): error is Error & { status: number } {
  return error instanceof Error && 'expose' in error && error.expose === true && 'status' in error;
}

/** Whether an interrupted action took effect: `undone` if nothing was changed, otherwise `unknown`. */
type Completion = 'undone' | 'unknown';

/** Thrown if an action fails for a reason other than its input, such as a database outage. */
export class InterruptedAction extends Error {
  override readonly name = 'InterruptedAction';

  readonly completion: Completion;

  constructor(completion: Completion, cause: unknown) {
    super('An action was interrupted', { cause });
    this.completion = completion;
  }
}
