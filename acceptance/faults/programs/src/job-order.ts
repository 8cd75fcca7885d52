import { pickOf } from './random.js';

export interface JobOrder {
  readonly name: 'plain' | 'transactional' | 'limited' | 'keyed' | 'unique' | 'stepped';
  readonly args: {
    readonly ms: number;
    readonly failures: number;
    readonly key?: string;
    readonly limit?: number;
  };
  /** Delay in milliseconds; 0 for a job that is ready immediately. */
  readonly delayMs: number;
  /**
   * Whether to enqueue the job in a transaction that also writes a row to `ledger.request`. Used only by `SqlEntrance`.
   */
  readonly withRow: boolean;
}

/** A request to enqueue. `SqlEntrance` enqueues only the job itself or, for a batch, only the callback. */
export type Order =
  | { readonly kind: 'job'; readonly job: JobOrder }
  /** A job that depends on the lane's previous job or batch, if there is one. */
  | { readonly kind: 'continuation'; readonly job: JobOrder }
  /** Three requests with the same idempotency key: two at once, then a third. */
  | { readonly kind: 'repeated'; readonly job: JobOrder; readonly key: string }
  | { readonly kind: 'batch'; readonly jobs: readonly JobOrder[]; readonly callback: JobOrder };

const concurrencyKeys = ['amber', 'basalt', 'coral'];
const uniqueKeys = ['door', 'east', 'fir', 'gate'];

/**
 * Returns a random job. Some jobs are slow or delayed, some fail once or twice, and some have a concurrency key or a
 * unique key.
 */
export function jobOrder(random: () => number): JobOrder {
  const chance = (probability: number): boolean => random() < probability;
  const name = nameOf(random());
  return {
    name,
    args: {
      // Jobs with a concurrency limit take longer, so that they overlap and violations of the limit become visible.
      ms:
        Math.round(random() * (chance(0.05) ? 1_500 : 60)) +
        (name === 'limited' || name === 'keyed' ? 120 : 0),
      failures: chance(0.1) ? 1 + Math.floor(random() * 2) : 0,
      ...(name === 'limited' && { key: 'limited', limit: 5 }),
      ...(name === 'keyed' && { key: pickOf(concurrencyKeys, random), limit: 2 }),
      ...(name === 'unique' && { key: pickOf(uniqueKeys, random), limit: 1 }),
    },
    delayMs: chance(0.2) ? Math.round(random() * 4_000) : 0,
    withRow: chance(0.3),
  };
}

function nameOf(share: number): JobOrder['name'] {
  if (share < 0.42) return 'plain';
  if (share < 0.45) return 'stepped';
  if (share < 0.7) return 'transactional';
  if (share < 0.8) return 'limited';
  return share < 0.92 ? 'keyed' : 'unique';
}

/**
 * Returns a random job without a key. A request with a unique key could return an existing job instead of a new one.
 */
function memberOf(random: () => number): JobOrder {
  const { args, ...job } = jobOrder(random);
  return { ...job, name: 'transactional', args: { ms: args.ms, failures: args.failures } };
}

export function nextOrder(random: () => number): Order {
  const share = random();
  if (share < 0.12) return { kind: 'continuation', job: memberOf(random) };
  if (share < 0.2)
    return {
      kind: 'repeated',
      job: memberOf(random),
      key: `key-${Math.floor(random() * 1e12).toString(36)}`,
    };
  if (share < 0.28) {
    const jobs = Array.from({ length: 1 + Math.floor(random() * 4) }, () => memberOf(random));
    return { kind: 'batch', jobs, callback: memberOf(random) };
  }
  return { kind: 'job', job: jobOrder(random) };
}
