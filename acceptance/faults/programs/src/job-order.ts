/** A job to enqueue. */
export interface JobOrder {
  readonly name: 'plain' | 'transactional' | 'limited';
  readonly args: { readonly ms: number; readonly failures: number };
  /** 0: at once. */
  readonly delayMs: number;
  /** Enqueues it in a transaction with a row of the enqueuer's own; from SQL only. */
  readonly withRow: boolean;
}

/** Of every sort some: long ones, late ones, such as fail once or twice. */
export function jobOrder(random: () => number): JobOrder {
  const chance = (probability: number): boolean => random() < probability;
  const plain = chance(0.5);
  return {
    name: plain ? 'plain' : chance(0.7) ? 'transactional' : 'limited',
    args: {
      ms: Math.round(random() * (chance(0.05) ? 1_500 : 60)),
      failures: chance(0.1) ? 1 + Math.floor(random() * 2) : 0,
    },
    delayMs: chance(0.2) ? Math.round(random() * 4_000) : 0,
    withRow: chance(0.3),
  };
}
