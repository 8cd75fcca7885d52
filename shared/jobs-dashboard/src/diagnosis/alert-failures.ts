import type { AlertMessage } from '@longshore/jobs/storage';
import { counted } from '../format/count.js';
import { sentence } from '../format/sentence.js';
import type { Warning } from './warning.js';

/** Maximum number of undelivered alerts to read. */
export const MAX_FAILURES = 100;

/** Returns one warning for each webhook with undelivered alerts. */
export function alertWarnings(failures: readonly AlertMessage[]): Warning[] {
  return [...new Set(failures.map(({ target }) => target))].map((target) => {
    const [host = target] = target.split(' ');
    const messages = failures.filter((message) => message.target === target);
    const pending = messages.filter(({ nextAt }) => nextAt !== null).length;
    const error = messages[0]?.error ?? '';
    return {
      cause: `alerts to ${target} fail`,
      text: sentence`Alerts could not be delivered to ${host}: ${error}`,
      advice:
        pending === 0
          ? `${counted(messages.length, 'message was', 'messages were')} dropped after a day of retries.`
          : `${counted(pending, 'message')} will be retried. Check the webhook and its URL.`,
      link: '',
    };
  });
}
