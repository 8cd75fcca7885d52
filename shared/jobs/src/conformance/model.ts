import type { Claim, Outcome } from '../job/job.js';
import { isFinished, type JobState } from '../job/state.js';

/** A job as the model knows it. */
export interface ModelJob {
  state: JobState;
  attempt: number;
  maxAttempts: number;
  readonly priority: number;
  /** Who holds it. */
  claim: Claim | null;
  cancelRequested: boolean;
}

/** What an operation on one job must answer. */
export type ModelResult = 'changed' | 'unchanged' | 'illegal' | 'unknown';

/** The life of jobs in one queue, as simply as it can be said: what a storage must do, without how. */
export class Model {
  readonly jobs = new Map<string, ModelJob>();
  paused = false;

  enqueue(id: string, job: Pick<ModelJob, 'priority' | 'maxAttempts'>, due: 'now' | 'later'): void {
    const state = due === 'now' ? 'enqueued' : 'scheduled';
    this.jobs.set(id, { ...job, state, attempt: 0, claim: null, cancelRequested: false });
  }

  /** How many jobs there are to claim. */
  ready(): number {
    return this.paused ? 0 : [...this.jobs.values()].filter(({ state }) => state === 'enqueued').length;
  }

  claimed(claim: Claim): void {
    const job = this.#get(claim.jobId);
    job.state = 'processing';
    job.attempt++;
    job.claim = claim;
  }

  holds(claim: Claim): boolean {
    const held = this.jobs.get(claim.jobId)?.claim;
    return held?.serverId === claim.serverId && held.attempt === claim.attempt;
  }

  complete(claim: Claim, outcome: Outcome): void {
    const job = this.#get(claim.jobId);
    job.claim = null;
    if (outcome.kind === 'snooze') job.attempt--;
    if (outcome.kind === 'retry' || outcome.kind === 'snooze') this.#goOn(job, 'scheduled');
    else this.#end(job, outcome.kind);
  }

  release(claim: Claim): void {
    const job = this.#get(claim.jobId);
    job.claim = null;
    job.attempt--;
    this.#goOn(job, 'enqueued');
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

  /** A job that somebody cancelled while it ran does not come back. */
  #goOn(job: ModelJob, state: JobState): void {
    if (job.cancelRequested) this.#end(job, 'cancelled');
    else job.state = state;
  }

  #end(job: ModelJob, state: JobState): void {
    job.state = state;
    job.cancelRequested = false;
  }

  #get(id: string): ModelJob {
    const job = this.jobs.get(id);
    if (job === undefined) throw new Error(`The model has no job ${id}`);
    return job;
  }
}
