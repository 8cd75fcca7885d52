const RealDate = Date;

/**
 * Runs `work` while `Date` is `aheadMs` milliseconds ahead, or behind if `aheadMs` is negative. Timers are not
 * affected.
 */
export async function withClock<Result>(aheadMs: number, work: () => Promise<Result>): Promise<Result> {
  class ShiftedDate extends RealDate {
    static override now(): number {
      return RealDate.now() + aheadMs;
    }

    constructor(...args: [] | [number | string | Date]) {
      super(args.length === 0 ? ShiftedDate.now() : args[0]);
    }
  }
  globalThis.Date = ShiftedDate as DateConstructor;
  try {
    return await work();
  } finally {
    globalThis.Date = RealDate;
  }
}
