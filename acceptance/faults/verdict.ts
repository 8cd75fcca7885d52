import type { Observer } from './observer.js';

/** A property, and how often it was breached. */
export interface Check {
  readonly property: string;
  readonly breaches: number;
}

const live = ['job', 'job_waiting', 'job_awaiting'];

const liveIds = live
  .map((table) => `select id from longshore.${table} where queue_id > 0`)
  .join(' union all ');

const effects = `select job_id, name, count(*) as times, min(attempt) as attempt, min(at) as at from ledger.effect group by job_id, name`;

/** Each counts the rows that breach its property; `accepted` are the ids of all accepted jobs. */
const properties: readonly (readonly [property: string, sql: string])[] = [
  [
    'jobs lost: accepted, and nowhere in the store',
    `select id from accepted
     where id not in (select id from longshore.job_done) and id not in (${liveIds})`,
  ],
  ['jobs not finished', `select id from (${liveIds}) as live`],
  ['jobs finished, but not done', `select id from longshore.job_done where state <> 'done'`],
  [
    'jobs in two places: finished twice, or finished and yet to do',
    `select id from (select id from longshore.job_done union all ${liveIds}) as everywhere group by id having count(*) > 1`,
  ],
  [
    'jobs done without an effect',
    `select id from longshore.job_done
     where state = 'done' and id not in (select job_id from ledger.effect)`,
  ],
  [
    'transactional jobs with two effects',
    `select job_id from (${effects}) as effect where name <> 'plain' and times > 1`,
  ],
  [
    'transactional effects of another attempt than the one on record, or of none',
    `select effect.job_id from (${effects}) as effect left join longshore.job_done on job_done.id = effect.job_id
     where effect.name <> 'plain' and job_done.attempt is distinct from effect.attempt`,
  ],
  [
    'transactional jobs that ran before their time',
    `select effect.job_id from (${effects}) as effect join longshore.job_done on job_done.id = effect.job_id
     where effect.name <> 'plain' and effect.at < job_done.run_at`,
  ],
  [
    "enqueuers' own rows without the job of their transaction",
    `select job_id from ledger.request where job_id not in (select id from longshore.job_done union all ${liveIds})`,
  ],
  ['jobs stuck in processing', `select id from longshore.job where server_id is not null and queue_id > 0`],
  [
    'counters that differ from the rows they count',
    `with real as (
       select queue_id, case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state
       from longshore.job where queue_id > 0
       union all select queue_id, 'scheduled' from longshore.job_waiting where queue_id > 0
       union all select queue_id, 'awaiting' from longshore.job_awaiting where queue_id > 0
       union all select queue_id, state from longshore.job_done
     )
     select from (select queue_id, state, count(*) as jobs from real group by queue_id, state) as rows
     full join (
       select queue_id, state, sum(jobs) as jobs from longshore.job_count group by queue_id, state having sum(jobs) <> 0
     ) as counters using (queue_id, state)
     where rows.jobs is distinct from counters.jobs`,
  ],
];

/** Looks at store and ledger when everything has settled. */
export async function judge(observer: Observer, accepted: readonly string[]): Promise<Check[]> {
  const checks: Check[] = [];
  for (const [property, sql] of properties) {
    const [row] = await observer.query<{ breaches: number }>(
      `with accepted as materialized (select unnest($1::uuid[]) as id)
       select count(*)::integer as breaches from (${sql}) as breach`,
      [accepted],
    );
    checks.push({ property, breaches: row?.breaches ?? NaN });
  }
  return checks;
}

/** What is no breach and worth knowing. */
export interface Tally {
  readonly done: number;
  /** Jobs that were attempted more than once. */
  readonly repeated: number;
  /** Attempts that were taken back from servers. */
  readonly lost: number;
  /** Plain jobs with more than one effect: they run at least once. */
  readonly doubled: number;
}

export async function tally(observer: Observer): Promise<Tally> {
  const [row] = await observer.query<Tally & Record<string, number>>(`
    select count(*)::integer as done, (count(*) filter (where attempt > 1))::integer as repeated,
      (select count(*)::integer from longshore.job_done, jsonb_array_elements(past_attempts) as past
       where past ->> 'outcome' = 'lost') as lost,
      (select count(*)::integer from (${effects}) as effect where name = 'plain' and times > 1) as doubled
    from longshore.job_done`);
  return row ?? { done: 0, repeated: 0, lost: 0, doubled: 0 };
}
