import { StorageUnavailableError } from '@longshore/jobs';
import { type Completion, InterruptedAction } from '../actions/interrupted-action.js';
import { ReadTooSlowError } from '../reading/deadline.js';

/** Something that a page says instead of what was asked for. */
export interface ProblemText {
  readonly status: number;
  readonly title: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Thrown anywhere under the dashboard, it becomes an error page in its style. */
export class Problem extends Error {
  override readonly name = 'Problem';

  readonly content: ProblemText;

  constructor(content: ProblemText) {
    super(content.title);
    this.content = content;
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

/** What to tell of any error: of an unforeseen one, only the incident's id, which is logged with it. */
export function problemOf(error: unknown, incident: string): ProblemText {
  if (error instanceof Problem) return error.content;
  if (error instanceof InterruptedAction) return problemOfAction(error, incident);
  if (error instanceof StorageUnavailableError) {
    return {
      status: 503,
      title: 'The storage is out of reach',
      text: 'The dashboard runs, but the storage that holds the jobs does not answer. Jobs that were accepted are safe there. Reload this page to try again.',
      headers: { 'Retry-After': '5' },
    };
  }
  if (error instanceof ReadTooSlowError) {
    return {
      status: 503,
      title: 'The storage takes too long',
      text: 'It did not answer in the time that a page may take. Other pages may still work; reload this one to try again.',
      headers: { 'Retry-After': '5' },
    };
  }
  if (isRequestError(error)) {
    return { status: error.status, title: 'This request cannot be read', text: error.message };
  }
  return {
    status: 500,
    title: 'Something went wrong here',
    text: `The dashboard could not make this page. The log has the cause under incident ${incident}.`,
  };
}

const completionTexts: Readonly<Record<Completion, string>> = {
  undone: 'What you asked for was not carried out: nothing was changed.',
  unknown:
    'It is not known whether what you asked for was carried out. Look how things are before you do it again.',
  done: 'What you asked for was carried out. Only that it ended well is missing in the audit.',
};

/** A form is not to be sent again without a thought, as reloading the page would. */
function problemOfAction({ completion, cause }: InterruptedAction, incident: string): ProblemText {
  if (cause instanceof StorageUnavailableError) {
    const text = `${completionTexts[completion]} The storage that holds the jobs does not answer; jobs that were accepted are safe there.`;
    return { ...problemOf(cause, incident), text };
  }
  const text = `${completionTexts[completion]} The log has the cause under incident ${incident}.`;
  return { ...problemOf(cause, incident), text };
}

/** What libraries throw for a request that is at fault itself (http-errors). */
function isRequestError(error: unknown): error is Error & { status: number } {
  return error instanceof Error && 'expose' in error && error.expose === true && 'status' in error;
}
