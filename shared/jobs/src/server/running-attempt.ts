import type { Claim, ClaimedJob, JsonValue } from '../job/job.js';
import type { JobContext, RunningJob } from './handler.js';

/** One run of a handler, and all that the handler sees of it. */
export class RunningAttempt implements JobContext<JsonValue> {
  readonly claim: Claim;
  readonly args: JsonValue;
  readonly job: RunningJob;
  /** Made when it is first asked for: for a job that does nothing it was a tenth of the cost. */
  #abort: AbortController | undefined;

  constructor({ claim, name, args, maxAttempts, createdAt }: ClaimedJob) {
    const { jobId: id, queue, attempt } = claim;
    this.claim = claim;
    this.args = args;
    this.job = { id, name, queue, attempt, maxAttempts, createdAt };
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    return this.#abort.signal;
  }

  abort(reason: Error): void {
    this.#abort ??= new AbortController();
    this.#abort.abort(reason);
  }
}
