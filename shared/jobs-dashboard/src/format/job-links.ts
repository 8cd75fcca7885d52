import type { Job } from '@longshore/jobs';
import type { Attempt } from '@longshore/jobs/storage';

/** A link from a job to another system. `word` is the link text. */
interface JobLink {
  readonly word: string;
  readonly url: string;
}

export interface JobLinkTemplates {
  /**
   * URL template for links from jobs to their logs, such as
   * `https://logs.example.com/search?q={jobId}&from={startedAt}`. The placeholders are `{jobId}`, `{jobName}`,
   * `{queue}`, `{attempt}`, `{serverId}`, `{traceId}`, `{createdAt}`, `{startedAt}` and `{finishedAt}`. For times in
   * milliseconds since 1970, append `Ms`, as in `{createdAtMs}`.
   */
  readonly logUrl?: string | undefined;
  /** URL template for links from jobs to their traces, such as `https://traces.example.com/trace/{traceId}`. */
  readonly traceUrl?: string | undefined;
}

/** Builds links from jobs and attempts to their logs and traces in other systems. */
export class JobLinks {
  readonly #templates: readonly { readonly word: string; readonly template: LinkTemplate }[];

  /** @throws {TypeError} if a template is invalid */
  constructor({ logUrl = '', traceUrl = '' }: JobLinkTemplates) {
    const settings = [
      { word: 'Logs', name: 'logUrl', text: logUrl },
      { word: 'Trace', name: 'traceUrl', text: traceUrl },
    ];
    this.#templates = settings
      .filter(({ text }) => text !== '')
      .map(({ word, name, text }) => ({ word, template: new LinkTemplate(name, text) }));
  }

  ofJob(job: Job): JobLink[] {
    return this.#of(valuesOf(job));
  }

  ofAttempt(job: Job, { attempt, serverId, startedAt, finishedAt }: Attempt): JobLink[] {
    return this.#of({ ...valuesOf(job), attempt, serverId, startedAt, finishedAt });
  }

  #of(values: LinkValues): JobLink[] {
    return this.#templates.flatMap(({ word, template }) => {
      const url = template.urlFor(values);
      return url === null ? [] : [{ word, url }];
    });
  }
}

function valuesOf(job: Job): LinkValues {
  const { id, name, queue, attempt, serverId, traceId, createdAt, startedAt, finishedAt } = job;
  return { jobId: id, jobName: name, queue, attempt, serverId, traceId, createdAt, startedAt, finishedAt };
}

/** The values that can be inserted into a link template. */
interface LinkValues {
  readonly jobId: string;
  readonly jobName: string;
  readonly queue: string;
  /** The attempt number; 0 before the first attempt. */
  readonly attempt: number;
  readonly serverId: string | null;
  readonly traceId: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

/** Maps each placeholder to a function that returns the value; `null` if the value is unknown. */
const placeholders: Readonly<Record<string, (values: LinkValues) => string | null>> = {
  jobId: ({ jobId }) => jobId,
  jobName: ({ jobName }) => jobName,
  queue: ({ queue }) => queue,
  attempt: ({ attempt }) => (attempt === 0 ? null : String(attempt)),
  serverId: ({ serverId }) => serverId,
  traceId: ({ traceId }) => traceId,
  createdAt: ({ createdAt }) => createdAt.toISOString(),
  createdAtMs: ({ createdAt }) => String(createdAt.getTime()),
  startedAt: ({ startedAt }) => startedAt?.toISOString() ?? null,
  startedAtMs: ({ startedAt }) => startedAt?.getTime().toString() ?? null,
  // Empty while the job or attempt is unfinished, so that a log search has no end time.
  finishedAt: ({ finishedAt }) => finishedAt?.toISOString() ?? '',
  finishedAtMs: ({ finishedAt }) => finishedAt?.getTime().toString() ?? '',
};

const placeholder = /\{([^{}]*)\}/g;

/** A URL template with placeholders, such as `https://logs.example.com/search?q={jobId}&from={startedAt}`. */
class LinkTemplate {
  readonly #template: string;

  /**
   * @param name the name of the template in error messages
   * @throws {TypeError} if the template is not an http or https URL, or if it contains an unknown placeholder, an
   *   unmatched brace, or a placeholder before the path
   */
  constructor(name: string, template: string) {
    const names = Array.from(template.matchAll(placeholder), ([, placeholderName = '']) => placeholderName);
    const unknown = names.find((placeholderName) => !Object.hasOwn(placeholders, placeholderName));
    if (unknown !== undefined)
      throw new TypeError(
        `${name} contains {${unknown}}, which is not one of ${Object.keys(placeholders)
          .map((placeholderName) => `{${placeholderName}}`)
          .join(', ')}`,
      );
    if (/[{}]/.test(template.replaceAll(placeholder, '')))
      throw new TypeError(`${name} contains a single brace; write %7B or %7D for a literal one`);
    if (!/^https?:\/\/[^{}/?#]+[/?#]/.test(`${template}/`) || !URL.canParse(template))
      throw new TypeError(
        `${name} is not a URL: give scheme, host and path, such as https://logs.example.com/search?q={jobId}`,
      );
    this.#template = template;
  }

  /** Returns the URL with the encoded values filled in; `null` if one of the values is unknown. */
  urlFor(values: LinkValues): string | null {
    let isComplete = true;
    const url = this.#template.replaceAll(placeholder, (_whole, name: string) => {
      const value = placeholders[name]?.(values) ?? null;
      if (value === null) isComplete = false;
      return encodeURIComponent((value ?? '').toWellFormed());
    });
    return isComplete ? url : null;
  }
}
