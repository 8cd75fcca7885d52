const mostRemembered = 10_000;

/** In which queues jobs are, which never changes. A job that has not finished is in no index by its id alone. */
export class JobHomes {
  readonly #queueIds = new Map<string, number>();

  /** The number of the job's queue; `null` if it is not known. */
  of(jobId: string): number | null {
    return this.#queueIds.get(jobId) ?? null;
  }

  remember(jobId: string, queueId: number): void {
    this.#queueIds.delete(jobId);
    this.#queueIds.set(jobId, queueId);
    for (const oldest of this.#queueIds.keys()) {
      if (this.#queueIds.size <= mostRemembered) return;
      this.#queueIds.delete(oldest);
    }
  }
}
