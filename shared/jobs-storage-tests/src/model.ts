import type { ConflictPolicy, JobState } from '@longshore/jobs';
import { type Claim, isFinished, type Outcome } from '@longshore/jobs/storage';

/** The properties of a job that the model tracks. */
export interface ModelJob {
  state: JobState;
  attempt: number;
  maxAttempts: number;
  priority: number;
  /** `null` if the job has no key. At most {@link concurrencyLimit} jobs with the same key run at once. */
  concurrencyKey: string | null;
  /** The claim of the current attempt, or `null` if the job is not running. */
  claim: Claim | null;
  cancelRequested: boolean;
}

export const concurrencyLimit = 2;

export interface ModelEnqueueRequest extends Pick<ModelJob, 'priority' | 'maxAttempts' | 'concurrencyKey'> {
  readonly due: 'now' | 'later';
  /** The unique key, and what happens if an unfinished job already has it; `null` if the job has no unique key. */
  readonly unique: { readonly key: string; readonly onConflict: ConflictPolicy } | null;
}

/** The expected result of an action on one job. */
export type ModelResult = 'changed' | 'unchanged' | 'illegal' | 'unknown';

/** A minimal model of the jobs in one queue. Defines the expected behaviour of a storage. */
export class Model {
  readonly jobs = new Map<string, ModelJob>();
  /** Maps a unique key to the id of the last job that was created with the key. */
  readonly #holders = new Map<string, string>();
  paused = false;

  /**
   * Enqueues a job. Returns `id` if a new job was created. If an unfinished job already has the unique key, returns
   * `rejected` for the policy `reject`, and otherwise the id of the existing job. The policy `replace` also replaces
   * the existing job's content unless that job is running.
   */
  enqueue(id: string, { due, unique, ...content }: ModelEnqueueRequest): string {
    const state = due === 'now' ? 'enqueued' : 'scheduled';
    const currentId = this.#holders.get(unique?.key ?? '') ?? '';
    const holder = this.jobs.get(currentId);
    if (unique === null || holder === undefined || isFinished(holder.state)) {
      this.jobs.set(id, { ...content, state, attempt: 0, claim: null, cancelRequested: false });
      if (unique !== null) this.#holders.set(unique.key, id);
      return id;
    }
    if (unique.onConflict === 'reject') return 'rejected';
    if (unique.onConflict === 'replace' && holder.state !== 'processing') {
      const maxAttempts = Math.max(content.maxAttempts, holder.attempt + 1);
      Object.assign(holder, { ...content, state, maxAttempts });
    }
    return currentId;
  }

  /** Returns the number of jobs that can be claimed. */
  ready(): number {
    if (this.paused) return 0;
    const room = new Map<string, number>();
    for (const key of this.#keysOf('processing')) room.set(key, (room.get(key) ?? concurrencyLimit) - 1);
    let ready = 0;
    for (const key of this.#keysOf('enqueued')) {
      const left = room.get(key) ?? concurrencyLimit;
      room.set(key, left - 1);
      if (left > 0) ready++;
    }
    return ready + this.#in('enqueued').filter(({ concurrencyKey }) => concurrencyKey === null).length;
  }

  claimed(claim: Claim): void {
    const job = this.#get(claim.jobId);
    job.state = 'processing';
    job.attempt++;
    job.claim = claim;
  }

  isCurrent(claim: Claim): boolean {
    const currentId = this.jobs.get(claim.jobId)?.claim;
    return currentId?.serverId === claim.serverId && currentId.attempt === claim.attempt;
  }

  complete(claim: Claim, outcome: Outcome): void {
    const job = this.#get(claim.jobId);
    job.claim = null;
    if (job.cancelRequested && outcome.kind !== 'done') {
      this.#end(job, 'cancelled');
      return;
    }
    if (outcome.kind === 'snooze' || outcome.kind === 'suspend') job.attempt--;
    if (outcome.kind === 'retry' || outcome.kind === 'snooze' || outcome.kind === 'suspend')
      job.state = 'scheduled';
    else this.#end(job, outcome.kind);
  }

  release(claim: Claim): void {
    const job = this.#get(claim.jobId);
    job.claim = null;
    job.attempt--;
    this.#continueAs(job, 'enqueued');
  }

  serverDied(serverId: string): void {
    for (const job of this.jobs.values()) {
      if (job.claim?.serverId !== serverId) continue;
      job.claim = null;
      if (job.cancelRequested) this.#end(job, 'cancelled');
      else if (job.attempt >= job.maxAttempts) this.#end(job, 'failed');
      else job.state = 'enqueued';
    }
  }

  cancel(id: string): ModelResult {
    const job = this.jobs.get(id);
    if (job === undefined) return 'unknown';
    if (job.state === 'done' || job.state === 'failed') return 'illegal';
    if (job.state === 'cancelled' || job.cancelRequested) return 'unchanged';
    if (job.state === 'processing') job.cancelRequested = true;
    else this.#end(job, 'cancelled');
    return 'changed';
  }

  retry(id: string): ModelResult {
    const job = this.jobs.get(id);
    if (job === undefined) return 'unknown';
    if (job.state === 'enqueued' || job.state === 'processing') return 'unchanged';
    if (job.state !== 'failed' && job.state !== 'cancelled') return 'illegal';
    job.maxAttempts = Math.max(job.maxAttempts, job.attempt + 1);
    job.state = 'enqueued';
    return 'changed';
  }

  run(id: string): ModelResult {
    const job = this.jobs.get(id);
    if (job === undefined) return 'unknown';
    if (job.state === 'enqueued' || job.state === 'processing') return 'unchanged';
    if (job.state !== 'scheduled') return 'illegal';
    job.state = 'enqueued';
    return 'changed';
  }

  delete(id: string): ModelResult {
    const job = this.jobs.get(id);
    if (job === undefined) return 'unknown';
    if (!isFinished(job.state)) return 'illegal';
    this.jobs.delete(id);
    return 'changed';
  }

  /** Sets the state of a job that stops running: `cancelled` if a cancellation was requested, otherwise `state`. */
  #continueAs(job: ModelJob, state: JobState): void {
    if (job.cancelRequested) this.#end(job, 'cancelled');
    else job.state = state;
  }

  #end(job: ModelJob, state: JobState): void {
    job.state = state;
    job.cancelRequested = false;
  }

  #in(state: JobState): ModelJob[] {
    return [...this.jobs.values()].filter((job) => job.state === state);
  }

  #keysOf(state: JobState): string[] {
    return this.#in(state).flatMap(({ concurrencyKey }) => concurrencyKey ?? []);
  }

  #get(id: string): ModelJob {
    const job = this.jobs.get(id);
    if (job === undefined) throw new Error(`The model has no job ${id}`);
    return job;
  }
}
