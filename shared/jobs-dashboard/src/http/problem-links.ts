import { sections } from '../pages/page.js';

/** A link on the page of a problem. */
export interface ProblemLink {
  /** Inside the dashboard. */
  readonly path: string;
  readonly words: string;
}

const things: Readonly<Record<string, string>> = {
  jobs: 'the job',
  queues: 'the queue',
  recurring: 'the recurring job',
  batches: 'the batch',
  servers: 'the server',
  bulk: 'the operation',
};

/**
 * From an action that failed, back to what it was about; if that is gone, to what was done to it.
 *
 * @param inside the path of the action, `/queues/mail/pause`
 * @param gone whether there is no such thing
 */
export function problemLinks(inside: string, gone: boolean): ProblemLink[] {
  const [, section = '', target = '', action] = inside.split('/');
  const thing = things[section];
  if (section.startsWith('bulk-')) return [{ path: 'bulk', words: 'Actions on many jobs' }];
  if (thing === undefined || action === undefined) return [];
  if (!gone) return [{ path: `${section}/${target}`, words: `Back to ${thing}` }];
  const list = sections.find(({ name }) => name === section);
  return [
    { path: `audit?target=${target}`, words: 'What was done to it' },
    ...(list === undefined || section === 'jobs' ? [] : [{ path: list.path, words: list.word }]),
  ];
}
