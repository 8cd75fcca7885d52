/**
 * `node --import …/clock.js` with `CLOCK_FILE` set: moves the process's clock ahead by the number of milliseconds in
 * the file. Picks up changes to the file. Replaces only `Date`. Timers and `performance.now()` are unaffected, as with
 * a real clock change.
 */
import { readFileSync } from 'node:fs';

/** Minimum time between two reads of the file, in milliseconds. */
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
      aheadMs = 0; // the clock has not been set yet
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
