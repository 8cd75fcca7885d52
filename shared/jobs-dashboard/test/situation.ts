import type { Job, RecurringJob } from '@longshore/jobs';
import {
  type Attempt,
  type Lease,
  type LostServer,
  notPaused,
  type Queue,
  type Server,
  type SetAsideItem,
} from '@longshore/jobs/storage';
import { plainText, type Sentence } from '../src/format/sentence.js';

/** The current time in tests. */
export const nowMs = Date.parse('2026-03-01T12:00:00Z');
export const ago = (seconds: number): Date => new Date(nowMs - seconds * 1_000);
export const counts = {
  scheduled: 0,
  awaiting: 0,
  enqueued: 0,
  processing: 0,
  done: 0,
  failed: 0,
  cancelled: 0,
};

export const job = (members: Partial<Job>): Job => ({
  id: '019ca000-0000-7000-8000-000000000001',
  name: 'mail',
  queue: 'q',
  state: 'enqueued',
  priority: 0,
  args: {},
  result: null,
  error: null,
  attempt: 0,
  maxAttempts: 3,
  createdAt: ago(100),
  runAt: null,
  delayMs: null,
  readyAt: ago(1),
  startedAt: null,
  finishedAt: null,
  serverId: null,
  cancelRequestedAt: null,
  cancelReason: null,
  tags: [],
  parentId: null,
  parentIds: [],
  parentCondition: null,
  batchId: null,
  recurringJobId: null,
  enqueuedBy: null,
  idempotencyKey: null,
  unique: null,
  timeoutMs: null,
  version: 1,
  traceparent: null,
  traceId: null,
  concurrencyKey: null,
  concurrencyLimit: null,
  concurrencyRate: null,
  progress: null,
  ...members,
});
export const server = (members: Partial<Server> = {}): Server => ({
  id: 's1',
  host: 'host',
  pid: 7,
  queues: ['q'],
  queueWeights: null,
  version: null,
  jobNames: null,
  concurrency: 2,
  processing: 1,
  state: 'running',
  requested: null,
  startedAt: ago(1_000),
  heartbeatAt: ago(3),
  timeoutMs: 30_000,
  clockAheadMs: 12,
  ...members,
});
export const attempt = (members: Partial<Attempt>): Attempt => ({
  attempt: 1,
  outcome: 'processing',
  serverId: 's1',
  startedAt: ago(90),
  finishedAt: null,
  error: null,
  ...members,
});
export const lease = (members: Partial<Lease>): Lease => ({
  jobId: '019ca000-0000-7000-8000-000000000001',
  queue: 'q',
  serverId: 's1',
  attempt: 1,
  expiresAt: ago(-30),
  locked: false,
  ...members,
});
export const lostServer = (members: Partial<LostServer> = {}): LostServer => ({
  id: 's0',
  host: 'host',
  pid: 6,
  processing: 2,
  heartbeatAt: ago(90),
  lostAt: ago(60),
  ...members,
});
export const queue = (members: Partial<Queue> = {}): Queue => ({
  name: 'q',
  counts,
  ...notPaused,
  concurrencyLimit: null,
  rateLimit: null,
  inCode: null,
  oldestEnqueuedAt: null,
  servers: 1,
  createdAt: ago(9_999),
  ...members,
});
export const recurring = (members: Partial<RecurringJob> = {}): RecurringJob => ({
  id: 'nightly',
  name: 'nightly',
  args: {},
  version: 1,
  queue: 'q',
  priority: 0,
  maxAttempts: 3,
  timeoutMs: null,
  cron: '0 3 * * *',
  timeZone: 'UTC',
  every: null,
  anchor: null,
  misfire: 'once',
  misfireLimit: 10,
  overlap: 'allow',
  maxBacklog: null,
  tags: [],
  concurrency: null,
  unique: null,
  application: null,
  ...notPaused,
  nextDueAt: ago(61),
  lastDueAt: null,
  lastJobId: null,
  createdAt: ago(9_999),
  updatedAt: ago(9_999),
  ...members,
});
export const failure = { name: 'TypeError', message: 'x', stack: null };

export function read(sentence: Sentence): string {
  return plainText(sentence, nowMs);
}

export const setAside = (members: Partial<SetAsideItem> = {}): SetAsideItem => ({
  id: '1',
  role: 'scheduler',
  key: '019ca000-0000-7000-8000-000000000001',
  queue: 'q',
  jobId: '019ca000-0000-7000-8000-000000000001',
  error: { name: 'error', message: 'poisoned', stack: null },
  failures: 1,
  createdAt: ago(600),
  failedAt: ago(600),
  retryAt: ago(540),
  ...members,
});
