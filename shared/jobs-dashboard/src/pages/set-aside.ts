import { shorten } from '@longshore/edge';
import type { SetAsideItem, SetAsideRole } from '@longshore/jobs/storage';
import { badRequest } from '../http/problem.js';
import type { Page, PageContext, PageRequest } from '../shell/page.js';
import { readRows } from './list-page.js';

const ROWS = 50;
const MAX_ERROR = 300;

const failedWork: Readonly<Record<SetAsideRole, string>> = {
  resolver: 'Resolving dependencies',
  scheduler: 'Making a job ready',
  resumer: 'Resuming what was paused',
  rescuer: 'Recovering a job from a lost server',
  recurring: 'Enqueuing a recurring job',
  bulk: 'Changing a job of a bulk action',
  cleaner: 'Housekeeping',
  completer: 'Storing the outcome of a job',
};

export async function setAsidePage({ query }: PageRequest, { reader }: PageContext): Promise<Page> {
  const after = query.get('after');
  if (after !== null && !/^\d{1,18}$/.test(after))
    throw badRequest('There is no such page of the list', `“${after}” is not the number of an item.`);
  return {
    title: 'Set-aside items',
    section: 'errors',
    view: 'page',
    kicker: { path: '', text: 'Overview' },
    regions: [
      {
        name: 'items',
        view: 'set-aside-list',
        everyMs: 5_000,
        load: async () => {
          const position = after === null ? {} : { after };
          const { rows, isComplete } = await readRows(ROWS, (limit) =>
            reader.setAside.list({ limit, ...position }),
          );
          return {
            items: rows.map(itemRow),
            order: 'newest',
            first: after === null ? null : 'set-aside',
            next: isComplete ? null : `set-aside?after=${rows.at(-1)?.id}`,
          };
        },
      },
    ],
  };
}

function itemRow({ id, role, key, jobId, error, failures, createdAt, retryAt }: SetAsideItem): object {
  return {
    id,
    work: failedWork[role],
    subject: jobId === null ? key : `job ${jobId.slice(-8)}`,
    path: pathOf(role, key, jobId),
    error: shorten(`${error.name}: ${error.message}`.split('\n', 1)[0] ?? '', MAX_ERROR, '…'),
    failures,
    createdAt,
    retryAt,
  };
}

function pathOf(role: SetAsideRole, key: string, jobId: string | null): string | null {
  if (jobId !== null) return `jobs/${jobId}`;
  return role === 'recurring' ? `recurring/${encodeURIComponent(key)}` : null;
}
