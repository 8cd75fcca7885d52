export interface During<Result> {
  readonly result: Result;
  /** When the work began, by this process's clock. */
  readonly from: Date;
  /** When the work had ended. */
  readonly until: Date;
}

/**
 * Does some work, and returns its result and when it began and ended, so that a test can state that a time lies in
 * between. However slow the machine is, this holds. The times are whole milliseconds, as stored times are.
 */
export async function during<Result>(work: () => Result | Promise<Result>): Promise<During<Awaited<Result>>> {
  const from = new Date();
  const result = await work();
  return { result, from, until: new Date() };
}

/** Resolves when the clock shows another millisecond than now, so that what happens next has a later time. */
export async function nextMillisecond(): Promise<void> {
  const now = Date.now();
  while (Date.now() <= now) await new Promise((resolve) => setTimeout(resolve, 1));
}
