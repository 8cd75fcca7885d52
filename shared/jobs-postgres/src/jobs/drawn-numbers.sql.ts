// Job numbers and outbox ids come from sequences on the coordinator. If each node had a separate range of numbers, jobs
// would overtake one another. CTEs that insert on a node get the numbers as an array. Otherwise, Citus would select the
// rows to insert on the coordinator.

const drawn = (name: string, sequence: string, source: string): string => `
    ${name} as materialized (
      select array_agg(number) as all_of from (select nextval('longshore.${sequence}') as number from ${source}) as drawn
    )`;

/**
 * Returns a CTE with an array of job numbers, one for each row of `source`. The numbers determine the order of jobs.
 */
export const jobNumbers = (source: string): string => drawn('job_number', 'job_seq', source);

/** Returns a CTE with an array of outbox ids, one for each row of `source`. */
export const outboxNumbers = (source: string): string => drawn('outbox_number', 'outbox_id_seq', source);

/** Returns SQL for the element at `index` (from 1) of {@link outboxNumbers}. */
export const numberOf = (index: string): string => `((select all_of from outbox_number)::bigint[])[${index}]`;

/** Returns SQL for the element at `index` (from 1) of {@link jobNumbers}. */
export const seqOf = (index: string): string => `((select all_of from job_number)::bigint[])[${index}]`;
