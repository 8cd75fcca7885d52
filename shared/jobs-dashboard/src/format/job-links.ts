import type { Job } from '@longshore/jobs';
import type { Attempt, Incident } from '@longshore/jobs/storage';
import { LinkTemplate, type Placeholders } from './link-template.js';

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

export interface RunbookTemplate {
  /**
   * URL template for links from warnings to a runbook, such as `https://wiki.example.com/runbook#{kind}`. The placeholders are
   * `{kind}`, `{key}` and `{subject}`.
   */
  readonly runbookUrl?: string | undefined;
}

const warningPlaceholders: Placeholders<Pick<Incident, 'kind' | 'key' | 'subject'>> = {
  kind: ({ kind }) => kind,
  key: ({ key }) => key,
  subject: ({ subject }) => subject,
};

/** Builds links from warnings to a runbook. */
export class RunbookLinks {
  readonly #template: LinkTemplate<Pick<Incident, 'kind' | 'key' | 'subject'>> | null;

  /** @throws {TypeError} if the template is invalid */
  constructor({ runbookUrl = '' }: RunbookTemplate) {
    this.#template =
      runbookUrl === '' ? null : new LinkTemplate('runbookUrl', runbookUrl, warningPlaceholders);
  }

  /** Returns the URL; `null` if there is no runbook. */
  of(incident: Pick<Incident, 'kind' | 'key' | 'subject'>): string | null {
    return this.#template?.urlFor(incident) ?? null;
  }
}

/** Builds links from jobs and attempts to their logs and traces in other systems. */
export class JobLinks {
  readonly #templates: readonly { readonly word: string; readonly template: LinkTemplate<LinkValues> }[];

  /** @throws {TypeError} if a template is invalid */
  constructor({ logUrl = '', traceUrl = '' }: JobLinkTemplates) {
    const settings = [
      { word: 'Logs', name: 'logUrl', text: logUrl },
      { word: 'Trace', name: 'traceUrl', text: traceUrl },
    ];
    this.#templates = settings
      .filter(({ text }) => text !== '')
      .map(({ word, name, text }) => ({ word, template: new LinkTemplate(name, text, placeholders) }));
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

const placeholders: Placeholders<LinkValues> = {
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
