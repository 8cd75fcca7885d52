import type { ApiChange } from '@longshore/resources';

/** Changes to the HTTP API, newest first. Keep `docs/api-changelog.md` in sync. */
export const apiChangelog: readonly ApiChange[] = [
  {
    date: '2026-11-28',
    text: 'A request to cancel a running job is answered with 202, and shown as `cancelRequestedAt` and `cancelReason` until the job has ended. `PUT /jobs/{id}/reschedule` and `PUT /jobs/reschedule`. `PUT /jobs/{id}/rename` and `PUT /jobs/rename`. `PUT /jobs/{id}/retry` takes `toQueue`, `priority` and `args`. Jobs and job definitions have a `version`, job definitions also `aliases`; `args` are those that the job was enqueued with. PATCH and PUT of jobs change `tags` and `maxAttempts`. `POST /queues`. `POST /deployments` has quotas. Without `limit`, `/statistics` has 20 items, latest first. `DELETE /jobs` deletes nothing if an unfinished job matches (409), and answers 202 with an `Idempotency-Key`. Jobs have `enqueuedBy`, also as a filter. Recurring jobs take `every` and `anchor` instead of `cron`, which can be null, and `timeoutMs`, `maxBacklog`, `tags`, `concurrency` and `unique`. PUT without one of these sets its default. Triggering a recurring job is a 409 while another job holds its unique key. Jobs have `correlate` and `awaits`, also as filters. `PUT /jobs/{id}/signal`, `PUT /jobs/signal` and `PUT /jobs/{id}/rerun-from`. `GET /jobs/{id}/steps`. `/installations` and `PUT /installations/{name}/resume`.',
  },
  { date: '2026-11-22', text: 'Version 1 of the API.' },
];
