/**
 * `node --import …/clock.js` with `CLOCK_FILE` set: a process whose clock is ahead by as many milliseconds as the file says, and
 * jumps when the file changes. `Date` is the only clock on the wall that JavaScript has, so this is what a clock that is set
 * looks like from inside; timers and `performance.now()` go by another one, in both cases.
 */
import { readFileSync } from 'node:fs';

/** How long a reading of the file serves. */
const readEveryMs = 50;

const file = process.env['CLOCK_FILE'] ?? '';
const RealDate = Date;
let aheadMs = 0;
let readAt = -Infinity;

function ahead(): number {
  const at = performance.now();
  if (at - readAt >= readEveryMs) {
    readAt = at;
    try {
      aheadMs = Number(readFileSync(file, 'utf8'));
    } catch {
      aheadMs = 0; // nobody has set the clock yet
    }
  }
  return aheadMs;
}

class SetDate extends RealDate {
  static override now(): number {
    return RealDate.now() + ahead();
  }

  constructor(...args: [] | [number | string | Date]) {
    super(args.length === 0 ? SetDate.now() : args[0]);
  }
}

globalThis.Date = SetDate as DateConstructor;
