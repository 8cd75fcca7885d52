import type { SetAsideItem, SetAsideRole } from '@longshore/jobs';
import { counted } from '../format/count.js';
import { sentence } from '../format/sentence.js';
import type { Warning } from './warning.js';

/** What each role cannot do with an item that it set aside. */
const failures: Readonly<Record<SetAsideRole, string>> = {
  resolver: 'The dependencies of a job could not be resolved',
  scheduler: 'A job could not be made ready although its time has come',
  rescuer: 'A job could not be taken back from a lost server',
  recurring: 'A recurring job could not be enqueued',
  bulk: 'A bulk operation passed a job over that it could not change',
  cleaner: 'Housekeeping could not be done',
  completer: 'The outcome of a job could not be stored',
};

const longestReason = 200;

/** One warning for each role, about the newest item. */
export function setAsideWarnings(items: readonly SetAsideItem[]): Warning[] {
  const byRole = new Map<SetAsideRole, SetAsideItem[]>();
  for (const item of items) {
    const ofRole = byRole.get(item.role);
    if (ofRole === undefined) byRole.set(item.role, [item]);
    else ofRole.push(item);
  }
  return [...byRole].flatMap(([role, [first, ...others]]) => {
    if (first === undefined) return [];
    const reason = first.error.message.slice(0, longestReason);
    const more =
      others.length === 0 ? '' : ` ${counted(others.length, 'other item')} of the same kind failed too.`;
    return [
      {
        text: sentence`${failures[role]}: ${reason}. It was set aside ${{ at: first.createdAt }}.`,
        advice: `Everything else goes on.${more} ${retryOf(first)}; correct its data, or cancel the job.`,
        link: linkOf(first),
      },
    ];
  });
}

function retryOf({ retryAt, failures: times }: SetAsideItem): string {
  if (retryAt === null) return 'It is not tried again by itself';
  return `It is tried again ${times === 1 ? 'after a minute' : 'at growing intervals'}`;
}

function linkOf({ role, key, jobId }: SetAsideItem): string {
  if (jobId !== null) return `jobs/${jobId}`;
  return role === 'recurring' ? `recurring/${encodeURIComponent(key)}` : 'servers';
}
