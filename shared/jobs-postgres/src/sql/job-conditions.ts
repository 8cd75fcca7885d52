import {
  firstIdOf,
  isId,
  isFinished,
  type JobFilter,
  type JobMeta,
  type JobState,
  jobStates,
} from '@longshore/jobs';

/** What a filter asks of the rows of every table, as SQL; states and queues apart. */
export interface JobConditions {
  readonly rows: readonly string[];
  /** What only rows of jobs that have been claimed can answer. */
  readonly claimed: readonly string[];
  readonly finished: readonly string[];
  /** Among them is one that the index on what jobs carry answers. */
  readonly byMeta: boolean;
}

/** @param bind puts a value into the query and gives its place there, `$3` */
export function conditionsOf(filter: JobFilter, bind: (value: unknown) => string): JobConditions {
  const rows: string[] = [];
  const { createdAfter, createdBefore, finishedAfter, finishedBefore } = filter;
  if (given(filter.id)) rows.push(`id = any(${bind(filter.id.filter(isId))}::uuid[])`);
  if (given(filter.name)) rows.push(`name = any(${bind(filter.name)}::text[])`);
  if (createdAfter !== undefined) rows.push(`id >= ${bind(firstIdOf(createdAfter))}::uuid`);
  if (createdBefore !== undefined) rows.push(`id < ${bind(firstIdOf(createdBefore))}::uuid`);
  for (const { path, values } of filter.args ?? []) {
    if (!given(values)) continue;
    const texts = values.map((value) => JSON.stringify(value));
    rows.push(`args #> ${bind(path)}::text[] = any(${bind(texts)}::jsonb[])`);
  }

  // One condition for each value: the index knows no `any`. All of them are strict, which is what says that meta is not null.
  const carried: (JobMeta[] | undefined)[] = [
    filter.tag?.map((tag) => ({ tags: [tag] })),
    filter.recurringJobId?.map((recurringJobId) => ({ recurringJobId })),
    filter.batchId?.map((id) => ({ batchId: id.toLowerCase() })),
    filter.parentId?.map((id) => ({ parentIds: [id.toLowerCase()] })),
  ];
  for (const metas of carried) {
    if (!given(metas)) continue;
    const any = metas.map((meta) => `meta @> ${bind(JSON.stringify(meta))}::jsonb`);
    rows.push(`(${any.join(' or ')})`);
  }

  const claimed = given(filter.serverId)
    ? [`server_id = any(${bind(filter.serverId.filter(isId))}::uuid[])`]
    : [];
  const finished: string[] = [];
  if (finishedAfter !== undefined) finished.push(`finished_at >= ${bind(finishedAfter)}::timestamptz`);
  if (finishedBefore !== undefined) finished.push(`finished_at < ${bind(finishedBefore)}::timestamptz`);
  return { rows, claimed, finished, byMeta: carried.some(given) };
}

/** The states that a job of the filter can be in. */
export function statesOf(filter: JobFilter): readonly JobState[] {
  const states = given(filter.state) ? [...new Set(filter.state)] : jobStates;
  const finished = filter.finishedAfter !== undefined || filter.finishedBefore !== undefined;
  return states.filter(
    (state) => isFinished(state) || (!finished && (state === 'processing' || !given(filter.serverId))),
  );
}

/** Whether the filter names nothing but states and queues, of which the counters know. */
export function isCounted(filter: JobFilter): boolean {
  return Object.entries(filter).every(
    ([member, value]) =>
      member === 'state' || member === 'queue' || (Array.isArray(value) && value.length === 0),
  );
}

function given<Value>(values: readonly Value[] | undefined): values is readonly Value[] {
  return values !== undefined && values.length > 0;
}
