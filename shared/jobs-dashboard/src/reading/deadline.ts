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
