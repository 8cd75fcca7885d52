/** Errors with which calls of the driver were rejected. */
const reported = new WeakSet<object>();

/**
 * Marks the error if a call of the driver is rejected, and returns the call. Errors of an application that runs inside
 * a transaction can have the same messages and codes, but say nothing about Postgres.
 */
export function fromDriver<Call extends PromiseLike<unknown>>(call: Call): Call {
  call.then(undefined, (error: unknown) => {
    if (error instanceof Error) reported.add(error);
  });
  return call;
}

/** Errors of the storage's own statements. */
const ofStorage = new WeakSet<object>();

/** Like {@link fromDriver}, for a statement of the storage, as opposed to one of a handler or another library. */
export function fromStorage<Call extends PromiseLike<unknown>>(call: Call): Call {
  call.then(undefined, (error: unknown) => {
    if (error instanceof Error) ofStorage.add(error);
  });
  return fromDriver(call);
}

/** Returns whether a statement of the storage was rejected with this error, see {@link fromStorage}. */
export function isOfStorage(error: unknown): boolean {
  return error instanceof Error && ofStorage.has(error);
}

/** Returns whether a call of the driver was rejected with this error, see {@link fromDriver}. */
export function isFromDriver(error: unknown): boolean {
  return error instanceof Error && reported.has(error);
}
