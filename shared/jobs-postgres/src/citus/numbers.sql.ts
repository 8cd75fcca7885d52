// Numbers come from sequences of the coordinator: each node has its own range of numbers, so jobs would overtake one another.
// Parts that insert on a node get them as an array, because Citus would otherwise select the rows on the coordinator.

const drawn = (name: string, sequence: string, source: string): string => `
    ${name} as materialized (
      select array_agg(number) as all_of from (select nextval('longshore.${sequence}') as number from ${source}) as drawn
    )`;

/** Part with a number for each row of `source`, for the order of jobs. */
export const jobNumbers = (source: string): string => drawn('job_number', 'job_seq', source);

/** Part with a number for each row of `source`, for rows of the outbox. */
export const outboxNumbers = (source: string): string => drawn('outbox_number', 'outbox_id_seq', source);

/** Returns SQL for the number of an outbox row at a place, from 1. */
export const numberOf = (place: string): string => `((select all_of from outbox_number)::bigint[])[${place}]`;

/** Returns SQL for the number of a job at a place, from 1. */
export const seqOf = (place: string): string => `((select all_of from job_number)::bigint[])[${place}]`;
