/** A read took longer than a page may wait for it. */
export class ReadTooSlowError extends Error {
  override readonly name = 'ReadTooSlowError';
}

/** What the promise gives, or rejects with {@link ReadTooSlowError} after `ms` milliseconds. The read itself goes on. */
export async function withDeadline<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new ReadTooSlowError(`No answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A page waits for so long for what makes it whole, in milliseconds, before it is sent without. */
export const SOON_MS = 5;

/** What the promise gives, if it does so within `ms` milliseconds; else `undefined`, and the read goes on for whoever asks next. */
export async function soon<T>(promise: Promise<T>, ms: number = SOON_MS): Promise<T | undefined> {
  try {
    return await withDeadline(promise, ms);
  } catch (error) {
    if (error instanceof ReadTooSlowError) return undefined;
    throw error;
  }
}
