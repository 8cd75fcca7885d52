import {
  type Claim,
  ClaimLostError,
  type Completion,
  type JobMeta,
  type JsonText,
  type Outcome,
  outcomeIfCancelled,
  toJobError,
  type TransactionWork,
  outbox,
} from '@longshore/jobs/storage';
import { claimArrays, type TouchedRow, without } from '../jobs/claim-arrays.js';
import { byQueue } from '../connection/array-literal.js';
import type { CancellationRequests } from '../claim/cancellation-requests.js';
import type { Database, Query } from '../connection/database.js';
import { isOfData } from '../connection/errors.js';
import type { LimitedQueues } from '../claim/limited-queues.js';
import type { PostgresSetAside } from '../records/set-aside.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import type { Notifier } from '../notifications/notifier.js';
import { allTurns } from '../connection/run.js';
import {
  alreadyFinished,
  finishCancelled,
  finishDone,
  finishDoneAlike,
  type Finisher,
  finishFailed,
  finishRetry,
  finishSnooze,
  finishSuspend,
  type JobKind,
  lockClaim,
  lockClaims,
} from './completions.sql.js';
import type { TransactionClient } from '@longshore/jobs';
import type { Statement } from '../connection/statement.js';
import { withDefaultParsers } from '../connection/default-parsers.js';

type Column = (outcomes: readonly Outcome[]) => unknown[] | null;

/**
 * Returns the results, or `null` if no job has a result. This case is common, and a single `null` is cheaper to send
 * and parse than a list of nulls.
 */
const results: Column = (outcomes) => {
  const values = outcomes.map((outcome) => ('result' in outcome ? storedResult(outcome.result) : null));
  return values.every((value) => value === null) ? null : values;
};
const errors: Column = (outcomes) =>
  outcomes.map((outcome) => ('error' in outcome ? JSON.stringify(outcome.error) : null));
const delays: Column = (outcomes) =>
  outcomes.map((outcome) => ('delayMs' in outcome ? outcome.delayMs : null));
const times: Column = (outcomes) =>
  outcomes.map((outcome) => ('until' in outcome ? outcome.until.toISOString() : null));
const waits: Column = (outcomes) => outcomes.map((outcome) => JSON.stringify(waitsOf(outcome)));

/** Returns what the metadata of a suspended job says about what it waits for. */
function waitsOf(outcome: Outcome): Pick<JobMeta, 'awaits' | 'cancels'> {
  if (outcome.kind !== 'suspend') return {};
  const { awaits, cancels } = outcome;
  return { awaits, ...(cancels.length > 0 && { cancels }) };
}

/** For each kind of outcome: its statements, and functions that return the parameters that follow the claims. */
const finishers: Record<Outcome['kind'], { statements: Finisher; columns: readonly Column[] }> = {
  done: { statements: finishDone, columns: [results] },
  failed: { statements: finishFailed, columns: [errors] },
  cancelled: { statements: finishCancelled, columns: [errors] },
  retry: { statements: finishRetry, columns: [errors, delays] },
  snooze: { statements: finishSnooze, columns: [delays] },
  suspend: { statements: finishSuspend, columns: [times, waits] },
};

/** A job whose claim a transaction holds. */
interface HeldJob {
  readonly queueId: number;
  readonly kind: JobKind;
}

/** Records job outcomes in groups with the same server, queue and kind of outcome. */
export class PostgresCompletions {
  readonly #database: Database;
  readonly #queues: QueueIdCache;
  readonly #notifier: Notifier;
  readonly #limits: LimitedQueues;
  readonly #setAside: PostgresSetAside;
  readonly #requests: CancellationRequests;

  constructor(
    database: Database,
    queues: QueueIdCache,
    notifier: Notifier,
    limits: LimitedQueues,
    setAside: PostgresSetAside,
    requests: CancellationRequests,
  ) {
    this.#setAside = setAside;
    this.#requests = requests;
    this.#database = database;
    this.#queues = queues;
    this.#notifier = notifier;
    this.#limits = limits;
  }

  async complete(reported: readonly Completion[]): Promise<Claim[]> {
    const { isDistributed } = this.#database.schema;
    const completions = isDistributed ? await this.#withCancellations(reported) : reported;
    const stale = await Promise.all(
      Array.from(groupByStatement(completions), (group) => this.#finishBisecting(group)),
    );
    if (isDistributed) await this.#carryOutRequests(completions);
    let inMs = Infinity;
    for (const { outcome } of completions) inMs = Math.min(inMs, dueInMs(outcome));
    if (inMs < Infinity) this.#notifier.notify({ kind: 'due', inMs });
    this.#limits.ended(new Set(completions.map(({ claim }) => claim.queue)));
    return this.#notYetFinished(stale.flat());
  }

  /** Cancels jobs that were requested to be cancelled between {@link #withCancellations} and the write. */
  async #carryOutRequests(completions: readonly Completion[]): Promise<void> {
    const repeated = completions.filter(({ outcome }) => isPutOff(outcome)).map(({ claim }) => claim);
    for (const [queue, claims] of byQueue(repeated))
      await this.#requests.carryOutAmong(await this.#queues.idOf(queue), claims);
  }

  /**
   * Returns the completions with the outcome `cancelled` for jobs that are to be cancelled. On a Citus cluster, called before
   * the write, because a statement there cannot skip such jobs: it reads at several times.
   */
  async #withCancellations(completions: readonly Completion[]): Promise<readonly Completion[]> {
    const unsuccessful = completions.filter(({ outcome }) => isUnsuccessful(outcome));
    if (unsuccessful.length === 0) return completions;
    const requested = new Set(await this.#requests.among(unsuccessful.map(({ claim }) => claim)));
    if (requested.size === 0) return completions;
    return completions.map((completion) =>
      requested.has(completion.claim)
        ? { ...completion, outcome: outcomeIfCancelled(completion.outcome) }
        : completion,
    );
  }

  async completeInTransaction(claim: Claim, work: TransactionWork, signal?: AbortSignal): Promise<void> {
    const { kind } = await this.inTransaction(claim, work, signal, (result, { queueId, kind }) => ({
      statement: finishDone[kind],
      values: [queueId, ...claimParameters([claim]), [storedResult(result)]],
    }));
    if (kind === 'any') this.#notifier.notify(outbox);
    this.#limits.ended([claim.queue]);
  }

  /**
   * Runs work of an attempt in a transaction, and then the statement that stores its result. The claim is checked first and stays
   * locked until the commit, but not against other transactions of the attempt.
   *
   * @param store returns the statement
   * @throws {ClaimLostError} if the claim is not valid; `work` was either not started or rolled back
   */
  async inTransaction<Result>(
    claim: Claim,
    work: (client: TransactionClient) => Promise<Result>,
    signal: AbortSignal | undefined,
    store: (result: Result, held: HeldJob) => Query,
  ): Promise<HeldJob> {
    const queueId = await this.#queues.idOf(claim.queue);
    const afterwards: (() => void)[] = [];
    const afterCommit = (act: () => void): void => void afterwards.push(act);
    // Not repeated after a deadlock or serialization failure, because the handler's work can have effects that cannot
    // be rolled back.
    const held = await this.#database.lend(
      async (client): Promise<HeldJob> => {
        const { jobId, serverId, attempt } = claim;
        const { rows } = await client.queryAndLend<{ meta: JobMeta | null }>({
          ...lockClaim,
          values: [queueId, jobId, serverId, attempt],
        });
        const [row] = rows;
        if (row === undefined) throw new ClaimLostError(jobId);
        const transaction = withDefaultParsers(client, { afterCommit });
        // If the work fails, too: calls that the handler did not wait for would otherwise be made after the rollback.
        let result: Result;
        try {
          result = await work(transaction);
        } finally {
          await allTurns(transaction);
        }
        const job: HeldJob = { queueId, kind: row.meta === null ? 'plain' : 'any' };
        const { statement, values } = store(result, job);
        const { text, citus } = statement; // without its name, because the handler could deallocate it
        await client.takeBackAndQuery({ text, citus, values });
        return job;
      },
      {
        application_name: this.#database.schema.transactionName(claim.serverId),
        idle_in_transaction_session_timeout: String(this.#database.options.transactionIdleTimeoutMs),
      },
      signal,
    );
    for (const act of afterwards) act();
    return held;
  }

  /**
   * Records a group of outcomes. After a data error, tries each half of the group separately, and marks the faulty jobs
   * as failed. Returns the claims without a recorded outcome.
   */
  async #finishBisecting(group: readonly Completion[]): Promise<Claim[]> {
    try {
      return await this.#finish(group);
    } catch (error) {
      if (!isOfData(error)) throw error;
      const [first] = group;
      if (first !== undefined && group.length === 1) return this.#fail(first, error);
      const middle = Math.ceil(group.length / 2);
      const before = await this.#finishBisecting(group.slice(0, middle));
      return [...before, ...(await this.#finishBisecting(group.slice(middle)))];
    }
  }

  /**
   * Marks a job as failed because its outcome cannot be stored. If the failure cannot be stored either, sets the job
   * aside. Returns the claim if no outcome was recorded.
   */
  async #fail({ claim, outcome, ...rest }: Completion, error: unknown): Promise<Claim[]> {
    const { message } = toJobError(error);
    const reason = {
      name: 'OutcomeNotStoredError',
      message: `Its outcome (${outcome.kind}) could not be stored: ${message}`,
      stack: null,
    };
    try {
      return await this.#finish([{ ...rest, claim, outcome: { kind: 'failed', error: reason } }]);
    } catch (again) {
      if (!isOfData(again)) throw again;
      const queueId = await this.#queues.idOf(claim.queue);
      const { jobId } = claim;
      await this.#setAside.putInOwnTransaction({ role: 'completer', key: jobId, queueId, jobId }, error);
      return [claim];
    }
  }

  /**
   * Records a group of outcomes. Returns the claims without a recorded outcome.
   *
   * @param group completions with the same queue, server and kind of outcome, either all with metadata or all without
   */
  async #finish(group: readonly Completion[]): Promise<Claim[]> {
    const [first] = group;
    if (first === undefined) return [];
    const missed = await this.#write(group, first.hasMeta === true ? 'any' : 'plain');
    if (missed.length === 0) return missed;
    // The missed claims are stale, or their jobs are to be cancelled, or have gained metadata since they were claimed.
    const again = await this.#withCancellations(group.filter(({ claim }) => missed.includes(claim)));
    const cancelled = again.filter(({ outcome }) => outcome.kind !== first.outcome.kind);
    const unchanged = again.filter(({ outcome }) => outcome.kind === first.outcome.kind);
    if (first.hasMeta === true)
      return [...(await this.#finish(cancelled)), ...unchanged.map(({ claim }) => claim)];
    const stale = [...(await this.#write(cancelled, 'any')), ...(await this.#write(unchanged, 'any'))];
    if (stale.length < missed.length) this.#notifier.notify(outbox);
    return stale;
  }

  async #write(group: readonly Completion[], kind: JobKind): Promise<Claim[]> {
    const [first] = group;
    if (first === undefined) return [];
    const claims = group.map(({ claim }) => claim);
    const queueId = await this.#queues.idOf(first.claim.queue);
    // `finishDoneAlike` is not used on a Citus cluster, because its speed has not been measured there.
    const isAlike = kind === 'plain' && !this.#database.schema.isDistributed && areAlike(group);
    const { statement, values } = isAlike ? doneAlike(claims, first.claim) : finish(group, first, kind);
    const rows =
      first.outcome.kind === 'suspend'
        ? await this.#suspend(statement, [queueId, ...values])
        : await this.#database.write<WrittenRow>(statement, [queueId, ...values]);
    const counted = rows[0]?.jobs;
    if ((counted ?? rows.length) === claims.length) return [];
    return counted === undefined ? without(claims, rows) : this.#notYetFinished(claims);
  }

  /**
   * Suspends jobs. Locks them with a statement of its own, so that the next one sees every signal that the relay delivered
   * while they were running.
   */
  async #suspend(statement: Statement, values: [queueId: number, ...rest: unknown[]]): Promise<WrittenRow[]> {
    return this.#database.transaction(async (client) => {
      await this.#database.lockQueues(client, [values[0]]);
      await client.query(lockClaims, values.slice(0, 4));
      return (await client.query<WrittenRow>(statement, values)).rows;
    });
  }

  /**
   * Returns the claims without a recorded outcome. A write is repeated if its response is lost. The second write then
   * finds no jobs, although the first one succeeded.
   */
  async #notYetFinished(claims: readonly Claim[]): Promise<Claim[]> {
    if (claims.length === 0) return [];
    return without(claims, await this.#database.query<TouchedRow>(alreadyFinished, claimArrays(claims)));
  }
}

interface WrittenRow extends TouchedRow {
  jobs?: number;
}

/** Returns whether the outcome makes the job scheduled. */
function isPutOff({ kind }: Outcome): boolean {
  return kind === 'retry' || kind === 'snooze' || kind === 'suspend';
}

/** Returns in how many milliseconds a job with this outcome can be due; `Infinity` if it does not become scheduled. */
function dueInMs(outcome: Outcome): number {
  if (outcome.kind === 'suspend') return 0; // at once if what it waits for is there; otherwise, servers read when
  return 'delayMs' in outcome ? outcome.delayMs : Infinity;
}

function isUnsuccessful({ kind }: Outcome): boolean {
  return kind !== 'done' && kind !== 'cancelled';
}

function groupByStatement(completions: readonly Completion[]): Iterable<readonly Completion[]> {
  const groups = new Map<string, Completion[]>();
  let last: { readonly completion: Completion; readonly group: Completion[] } | undefined;
  for (const completion of completions) {
    // Consecutive completions usually belong to the same group, and comparing them is faster than building a key.
    if (last === undefined || !shareStatement(completion, last.completion)) {
      const { claim, outcome, hasMeta = false } = completion;
      const key = `${outcome.kind} ${hasMeta} ${claim.serverId} ${claim.queue}`;
      let group = groups.get(key);
      if (group === undefined) groups.set(key, (group = []));
      last = { completion, group };
    }
    last.group.push(completion);
  }
  return groups.values();
}

function shareStatement(one: Completion, other: Completion): boolean {
  return (
    one.outcome.kind === other.outcome.kind &&
    (one.hasMeta ?? false) === (other.hasMeta ?? false) &&
    one.claim.serverId === other.claim.serverId &&
    one.claim.queue === other.claim.queue
  );
}

/** Returns whether {@link finishDoneAlike} can record these outcomes. */
function areAlike(group: readonly Completion[]): boolean {
  const attempt = group[0]?.claim.attempt;
  return group.every(
    ({ claim, outcome }) =>
      claim.attempt === attempt && outcome.kind === 'done' && storedResult(outcome.result) === null,
  );
}

function doneAlike(claims: readonly Claim[], { serverId, attempt }: Claim): Query {
  const [ids] = claimArrays(claims);
  return { statement: finishDoneAlike, values: [ids, serverId, attempt] };
}

function finish(group: readonly Completion[], { outcome: { kind } }: Completion, jobs: JobKind): Query {
  const { statements, columns } = finishers[kind];
  const outcomes = group.map(({ outcome }) => outcome);
  const claims = group.map(({ claim }) => claim);
  return {
    statement: statements[jobs],
    values: [...claimParameters(claims), ...columns.map((column) => column(outcomes))],
  };
}

/** Returns parameters $2 to $4 of the finishing statements: ids, server and attempts. */
function claimParameters(claims: readonly Claim[]): unknown[] {
  const [ids, , attempts] = claimArrays(claims);
  return [ids, claims[0]?.serverId, attempts];
}

/** Returns the value to store for a result. The JSON value `null` is stored as SQL null. */
function storedResult(result: JsonText): JsonText | null {
  return result === 'null' ? null : result;
}
