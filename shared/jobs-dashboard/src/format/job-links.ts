import type { Job } from '@longshore/jobs';
import type { Attempt } from '@longshore/jobs/storage';
import { LinkTemplate, type LinkValues } from './link-template.js';

/** A link from a job to another system. `word` is the link text. */
export interface JobLink {
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
    const given = [
      { word: 'Logs', name: 'logUrl', text: logUrl },
      { word: 'Trace', name: 'traceUrl', text: traceUrl },
    ];
    this.#templates = given
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
