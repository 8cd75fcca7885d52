const RealDate = Date;

/** Runs `work` while this process's clock is off by so many milliseconds. Timers go by another clock. */
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
