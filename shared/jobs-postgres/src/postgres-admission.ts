import type pg from 'pg';
import type { Consequence, Drawing } from './postgres-outbox.js';
import type { QueueDirectory } from './queue-directory.js';
import { admitHeld, lockKeys } from './sql/hold-back.js';
import type { MoveRow } from './sql/outbox.js';

/** Lets held back jobs of a concurrency key in when one arrives, or when one that was in has left. */
export class PostgresAdmission implements Consequence {
  readonly #queues: QueueDirectory;

  constructor(queues: QueueDirectory) {
    this.#queues = queues;
  }

  async draw(
    client: pg.ClientBase,
    moves: readonly MoveRow[],
    { isolate, setAside }: Drawing,
  ): Promise<Iterable<string>> {
    const queues: string[] = [];
    // Queues by their numbers, then keys by their locks: whoever locks several does it in this order.
    for (const [queueId, keys] of [...keysByQueue(moves)].toSorted(([left], [right]) => left - right)) {
      const admitted = await isolate(
        [...keys],
        (some) => admit(client, queueId, some),
        (key, error) =>
          setAside({ key: `key ${queueId} ${key}`, queueId, item: [lookAt(queueId, key)] }, error),
      );
      if (admitted.some((jobs) => jobs > 0)) queues.push(await this.#queues.nameOf(queueId));
    }
    return queues;
  }
}

/** Resolves to how many jobs were let in. */
async function admit(client: pg.ClientBase, queueId: number, keys: readonly string[]): Promise<number> {
  await client.query({ ...lockKeys, values: [queueId, keys] });
  const { rows } = await client.query<{ admitted: number }>({ ...admitHeld, values: [queueId, keys] });
  return rows[0]?.admitted ?? 0;
}

/** A move that calls for nothing but a look at this key. */
function lookAt(queueId: number, concurrencyKey: string): MoveRow {
  const nobody = '00000000-0000-0000-0000-000000000000';
  const meta = { concurrencyKey };
  return { queue_id: queueId, job_id: nobody, from_state: 'enqueued', to_state: 'enqueued', meta };
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
