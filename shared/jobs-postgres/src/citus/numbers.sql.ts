// Numbers are drawn from sequences on the coordinator. If nodes drew them, each from its own range, jobs would overtake
// one another. CTEs that insert on a node get the numbers as an array, because otherwise Citus would select the rows to
// insert on the coordinator.

const drawn = (name: string, sequence: string, source: string): string => `
    ${name} as materialized (
      select array_agg(number) as all_of from (select nextval('longshore.${sequence}') as number from ${source}) as drawn
    )`;

/** Returns a CTE with an array of one number for each row of `source`, for the order of jobs. */
export const jobNumbers = (source: string): string => drawn('job_number', 'job_seq', source);

/** Returns a CTE with an array of one number for each row of `source`, for ids in the outbox. */
export const outboxNumbers = (source: string): string => drawn('outbox_number', 'outbox_id_seq', source);

/** Returns SQL for the outbox id at index `place` of {@link outboxNumbers}, counted from 1. */
export const numberOf = (place: string): string => `((select all_of from outbox_number)::bigint[])[${place}]`;

/** Returns SQL for the job number at index `place` of {@link jobNumbers}, counted from 1. */
export const seqOf = (place: string): string => `((select all_of from job_number)::bigint[])[${place}]`;
