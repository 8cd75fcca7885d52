import type pg from 'pg';
import type { Consequence } from './postgres-outbox.js';
import type { QueueDirectory } from './queue-directory.js';
import { admitHeld, lockKeys } from './sql/hold-back.js';
import type { MoveRow } from './sql/outbox.js';

/** Lets held back jobs of a concurrency key in when one arrives, or when one that was in has left. */
export class PostgresAdmission implements Consequence {
  readonly #queues: QueueDirectory;

  constructor(queues: QueueDirectory) {
    this.#queues = queues;
  }

  async draw(client: pg.ClientBase, moves: readonly MoveRow[]): Promise<Iterable<string>> {
    const queues: string[] = [];
    // Queues by their numbers, then keys by their locks: whoever locks several does it in this order.
    for (const [queueId, keys] of [...keysByQueue(moves)].toSorted(([left], [right]) => left - right)) {
      await client.query({ ...lockKeys, values: [queueId, [...keys]] });
      const { rows } = await client.query<{ admitted: number }>({
        ...admitHeld,
        values: [queueId, [...keys]],
      });
      if (rows[0] !== undefined && rows[0].admitted > 0) queues.push(await this.#queues.nameOf(queueId));
    }
    return queues;
  }
}

function keysByQueue(moves: readonly MoveRow[]): Map<number, Set<string>> {
  const groups = new Map<number, Set<string>>();
  for (const { queue_id: queueId, meta } of moves) {
    if (meta.concurrencyKey === undefined) continue;
    const keys = groups.get(queueId);
    if (keys === undefined) groups.set(queueId, new Set([meta.concurrencyKey]));
    else keys.add(meta.concurrencyKey);
  }
  return groups;
}
