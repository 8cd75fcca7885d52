import { brand } from '@longshore/edge';

/**
 * Thrown if a schedule has neither `cron` nor `every` or both of them, if one of its values is invalid, or if no time matches
 * its cron expression. The message explains how to correct it.
 */
export class InvalidScheduleError extends RangeError {
  static {
    brand(this, 'InvalidScheduleError');
  }

  override readonly name = 'InvalidScheduleError';
}
