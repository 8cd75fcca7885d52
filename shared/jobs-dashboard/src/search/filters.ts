import { jobStates, type JobFilter, type JobState } from '@longshore/jobs';

/** What the Jobs page shows, as it stands in its URL. */
export interface Filters {
  readonly state: JobState | null;
  readonly queue: readonly string[];
  readonly name: readonly string[];
}

export const noFilters: Filters = { state: null, queue: [], name: [] };

export function isJobState(text: string): text is JobState {
  return (jobStates as readonly string[]).includes(text);
}

export function filterQuery({ state, queue, name }: Filters): JobFilter {
  return {
    ...(state === null ? {} : { state: [state] }),
    ...(queue.length === 0 ? {} : { queue }),
    ...(name.length === 0 ? {} : { name }),
  };
}

/** The path inside the dashboard of the jobs that match; `more` adds parameters of paging and order. */
export function jobsPath(filters: Filters, more: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams();
  if (filters.state !== null) query.append('state', filters.state);
  for (const queue of filters.queue) query.append('queue', queue);
  for (const name of filters.name) query.append('name', name);
  for (const [key, value] of Object.entries(more)) query.append(key, value);
  const text = query.toString();
  return text === '' ? 'jobs' : `jobs?${text}`;
}
