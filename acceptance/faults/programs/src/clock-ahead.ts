/**
 * `node --import …/clock-ahead.js`: a process whose clock is an hour ahead. `Date` is the only clock on the wall that
 * JavaScript has, so this is what a wrongly set clock looks like from inside; timers go by another clock, in both cases.
 */
const aheadMs = 3_600_000;
const RealDate = Date;

class DateAhead extends RealDate {
  static override now(): number {
    return RealDate.now() + aheadMs;
  }

  constructor(...args: [] | [number | string | Date]) {
    super(args.length === 0 ? DateAhead.now() : args[0]);
  }
}

globalThis.Date = DateAhead as DateConstructor;
