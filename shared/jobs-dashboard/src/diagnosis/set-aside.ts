import { shorten } from '@longshore/edge';
import type { SetAsideItem, SetAsideRole } from '@longshore/jobs/storage';
import { counted } from '../format/count.js';
import { sentence } from '../format/sentence.js';
import type { Warning } from './warning.js';

/** Describes the failed work, by the background role that has set the item aside. */
const failures: Readonly<Record<SetAsideRole, string>> = {
  resolver: 'The dependencies of a job could not be resolved',
  scheduler: 'A scheduled job could not be made ready',
  resumer: 'The end of a pause could not be carried out',
  rescuer: 'A job could not be reclaimed from a lost server',
  recurring: 'A recurring job could not be enqueued',
  bulk: 'A bulk action could not change a job',
  cleaner: 'Housekeeping failed',
  completer: 'The outcome of a job could not be stored',
};

const MAX_REASON = 200;

/**
 * Returns one warning for each role that has set items aside. The warning describes the newest item.
 *
 * @param items newest first
 */
export function setAsideWarnings(items: readonly SetAsideItem[]): Warning[] {
  const byRole = new Map<SetAsideRole, SetAsideItem[]>();
  for (const item of items) {
    const ofRole = byRole.get(item.role);
    if (ofRole === undefined) byRole.set(item.role, [item]);
    else ofRole.push(item);
  }
  return [...byRole].flatMap(([role, [first, ...others]]) => {
    if (first === undefined) return [];
    const reason = shorten(first.error.message, MAX_REASON, '…');
    const more =
      others.length === 0 ? '' : ` ${counted(others.length, 'other item')} of the same kind failed too.`;
    return [
      {
        cause: `${role} set an item aside`,
        text: sentence`${failures[role]}: ${reason}. It was set aside ${{ at: first.createdAt }}.`,
        advice: `Other work is not affected.${more} ${retryOf(first)}. Correct the data and retry the item, or discard it.`,
        link: 'set-aside',
      },
    ];
  });
}

function retryOf({ retryAt, failures: times }: SetAsideItem): string {
  if (retryAt === null) return 'It is not retried automatically';
  return `It is retried ${times === 1 ? 'after a minute' : 'at growing intervals'}`;
}
