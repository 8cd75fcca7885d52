import type { JobState } from '@longshore/jobs';
import { type BulkAction, type BulkRequest, statesOfRequest } from '@longshore/jobs/storage';
import { statesOf } from '../read/job-conditions.sql.js';

/**
 * The tables and parts of tables that a {@link BulkWalk} visits. Unless a job is retried, it moves through them in this
 * order, so a job that moves during the walk is still visited.
 */
export const stages = [
  'awaiting',
  'scheduled',
  'blocked',
  'ready',
  'running',
  'done',
  'failed',
  'cancelled',
] as const;

export type Stage = (typeof stages)[number];

/** A position in a table: live jobs are ordered by queue and id, finished ones by id. */
export interface Position {
  readonly queueId: number;
  readonly id: string;
}

/** How far a walk has progressed. */
export interface Cursor extends Position {
  readonly stage: Stage;
  /** Number of jobs changed since the walk last started at its first stage. */
  readonly changed: number;
}

interface StageTable {
  readonly table: string;
  readonly state: JobState;
  readonly finished: boolean;
  /** SQL condition for the rows of the stage; `null` if the stage is the whole table. */
  readonly condition: string | null;
}

export const stageTables: Readonly<Record<Stage, StageTable>> = {
  awaiting: { table: 'job_awaiting', state: 'awaiting', finished: false, condition: null },
  scheduled: { table: 'job_scheduled', state: 'scheduled', finished: false, condition: null },
  blocked: { table: 'job_blocked', state: 'enqueued', finished: false, condition: null },
  ready: { table: 'job', state: 'enqueued', finished: false, condition: 'job.server_id is null' },
  running: { table: 'job', state: 'processing', finished: false, condition: 'job.server_id is not null' },
  done: { table: 'job_history_done', state: 'done', finished: true, condition: null },
  failed: { table: 'job_history_failed', state: 'failed', finished: true, condition: null },
  cancelled: { table: 'job_history_cancelled', state: 'cancelled', finished: true, condition: null },
};

const stagesOfAction: Readonly<Record<BulkAction, readonly Stage[]>> = {
  cancel: ['awaiting', 'scheduled', 'blocked', 'ready', 'running'],
  retry: ['failed', 'cancelled'],
  run: ['awaiting', 'scheduled'],
  delete: ['done', 'failed', 'cancelled'],
};

const firstId = '00000000-0000-0000-0000-000000000000';
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Determines the order in which a bulk operation visits the jobs that its filter might match. */
export class BulkWalk {
  readonly #stages: readonly Stage[];
  readonly #first: Position;
  readonly #repeats: boolean;
  /** The position at which the walk ends in each table. */
  readonly last: Position;

  /** @param queueIds ids of the queues that the filter names; `undefined` if it names none */
  constructor(request: BulkRequest, queueIds: readonly number[] | undefined) {
    const possible = statesOf(request.filter);
    const states = new Set(statesOfRequest(request).filter((state) => possible.includes(state)));
    const stages = stagesOfAction[request.action].filter((stage) => states.has(stageTables[stage].state));
    this.#stages = queueIds?.length === 0 ? [] : stages;
    // A running job can return to a table that the walk has already visited. Cancelling therefore repeats the walk
    // until nothing changes.
    this.#repeats = request.action === 'cancel';
    this.#first = {
      queueId: (queueIds ?? [1]).reduce((least, id) => Math.min(least, id), Infinity),
      id: firstId,
    };
    this.last = {
      queueId: (queueIds ?? [2_147_483_647]).reduce((most, id) => Math.max(most, id), -Infinity),
      id: lastId,
    };
  }

  /** The first position; `null` if there is nothing to visit. */
  get start(): Cursor | null {
    const [stage] = this.#stages;
    return stage === undefined ? null : { ...this.#first, stage, changed: 0 };
  }

  /**
   * Returns the position after a step; `null` at the end of the walk.
   *
   * @param cursor the position before the step
   * @param end the position that the step reached in the table; `null` at the end of the table
   * @param changed number of jobs that the step changed
   */
  next(cursor: Cursor, end: Position | null, changed: number): Cursor | null {
    const total = cursor.changed + changed;
    if (end !== null) return { ...end, stage: cursor.stage, changed: total };
    const following = this.#stages[this.#stages.indexOf(cursor.stage) + 1];
    if (following !== undefined) return { ...this.#first, stage: following, changed: total };
    return this.#repeats && total > 0 ? this.start : null;
  }
}

/** Returns the ids that the filter selects, in lower case; `null` if it does not select by id. */
export function selectionOf({ filter: { id = [] } }: BulkRequest): ReadonlySet<string> | null {
  return id.length === 0 ? null : new Set(id.map((each) => each.toLowerCase()));
}
