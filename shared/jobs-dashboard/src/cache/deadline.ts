/** Thrown if a read exceeds its time limit. */
export class ReadTooSlowError extends Error {
  override readonly name = 'ReadTooSlowError';
}

/**
 * Settles like `promise`, or rejects with {@link ReadTooSlowError} after `ms` milliseconds. The read itself is not
 * stopped. The timer does not keep the process running.
 */
export async function withDeadline<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new ReadTooSlowError(`No response within ${ms} ms`)), ms).unref();
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** How long a page waits for optional data, in milliseconds. */
export const SOON_MS = 5;

/**
 * Settles like `promise`, or resolves with `undefined` after `ms` milliseconds (by default, 5). Does not stop the read
 * that `promise` stands for.
 */
export async function soon<T>(promise: Promise<T>, ms: number = SOON_MS): Promise<T | undefined> {
  try {
    return await withDeadline(promise, ms);
  } catch (error) {
    if (error instanceof ReadTooSlowError) return undefined;
    throw error;
  }
}
