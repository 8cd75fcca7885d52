import { pickOf } from './random.js';

/** A job to enqueue. */
export interface JobOrder {
  readonly name: 'plain' | 'transactional' | 'limited' | 'keyed' | 'unique';
  readonly args: {
    readonly ms: number;
    readonly failures: number;
    readonly key?: string;
    readonly limit?: number;
  };
  /** 0: at once. */
  readonly delayMs: number;
  /** Enqueues it in a transaction with a row of the enqueuer's own; from SQL only. */
  readonly withRow: boolean;
}

/** What a lane does next. From SQL, only single jobs. */
export type Order =
  | { readonly kind: 'job'; readonly job: JobOrder }
  /** After the job or batch that this lane has enqueued last. */
  | { readonly kind: 'continuation'; readonly job: JobOrder }
  /** The same request several times, with an idempotency key. */
  | { readonly kind: 'repeated'; readonly job: JobOrder; readonly key: string }
  | { readonly kind: 'batch'; readonly jobs: readonly JobOrder[]; readonly followUp: JobOrder };

const concurrencyKeys = ['amber', 'basalt', 'coral'];
const uniqueKeys = ['door', 'east', 'fir', 'gate'];

/** Of every sort some: long ones, late ones, such as fail once or twice, with keys of several kinds. */
export function jobOrder(random: () => number): JobOrder {
  const chance = (probability: number): boolean => random() < probability;
  const name = nameOf(random());
  return {
    name,
    args: {
      // Those that may run few at once take so long that too many at once would be seen.
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
  if (share < 0.45) return 'plain';
  if (share < 0.7) return 'transactional';
  if (share < 0.8) return 'limited';
  return share < 0.92 ? 'keyed' : 'unique';
}

/** A unique job may turn out to be another one, which is no member of a batch. */
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
    return { kind: 'batch', jobs, followUp: memberOf(random) };
  }
  return { kind: 'job', job: jobOrder(random) };
}
