import { prepared } from '../connection/statement.js';

/** How old a server's heartbeat may be for it to be offered jobs, as a share of the time after which it is dead. */
const freshness = 0.5;

/**
 * Ready jobs that one server is to claim at once, as an element of the parameter $3 of {@link sendNotifications}.
 */
export interface OfferedJobs {
  /** The name of the queue. Not part of the notification, unlike its digest. */
  readonly queue: string;
  readonly digest: string;
  readonly jobs: number;
  readonly names: readonly string[];
}

/** A notification that was sent. */
export interface SentRow {
  /** The digest of the queue if jobs were offered to a server; `null` if all servers were notified. */
  readonly offered: string | null;
}

/**
 * $1 sender, $2 payloads, $3 JSON array of {@link OfferedJobs}. Notifies on the channel named after the schema.
 *
 * Offers jobs to a random one of the servers that can run them and have free slots, as far as their last heartbeats show.
 * If there is none, notifies all servers.
 */
export const sendNotifications = prepared(
  'longshore-notify',
  `
    select pg_notify('longshore', $1::text || ' ' || payload)::text, offered
    from (
      select unnest($2::text[]) as payload, null as offered
      union all
      select coalesce(chosen.payload, 'ready:' || offer.digest), case when chosen.payload is not null then offer.digest end
      from jsonb_to_recordset($3::jsonb) as offer (queue text, digest text, jobs integer, names text[])
      left join lateral (
        select format('offer:%s:%s:%s', offer.digest, offer.jobs, server.id) as payload from longshore.server
        where state = 'running' and heartbeat_at > now() - timeout_ms * interval '${freshness} milliseconds'
          and offer.queue = any (queues) and (job_names is null or job_names @> offer.names)
          and processing + offer.jobs <= concurrency
        order by random() limit 1
      ) as chosen on true
    ) as sent`,
);

/** $1 queue, $2 ids. Returns a row if any of these jobs is ready. */
export const findUnclaimed = prepared(
  'longshore-find-unclaimed',
  `select 1 from longshore.job where queue_id = $1 and id = any($2::uuid[]) and server_id is null limit 1`,
);
