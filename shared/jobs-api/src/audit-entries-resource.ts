import type { JobStorage } from '@longshore/jobs';
import { auditDetails } from '@longshore/jobs/operations';
import type { AuditEntry, AuditFilter } from '@longshore/jobs/storage';
import { defineResource, type Filter, readOnly, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { nullable } from './fields.js';
import { seekPage } from './seek.js';

const AuditEntryItem = Type.Object({
  id: Type.String({
    pattern: '^[0-9]{1,19}$',
    maxLength: 19,
    description: 'Higher for later entries',
    examples: ['17'],
  }),
  at: Type.String({ format: 'date-time', description: 'When it was recorded' }),
  who: Type.String({ maxLength: 200, description: 'The user or API key; `Longshore` for automatic actions' }),
  action: Type.String({ description: 'The kind of target and the operation', examples: ['queues/pause'] }),
  target: nullable(
    Type.String({ description: 'The ID or name of what was changed; null if it was a selection' }),
  ),
  outcome: Type.Enum(['done', 'without effect', 'refused'], {
    description: '`without effect` if no change was needed; `refused` if it was not allowed',
  }),
  why: nullable(Type.String({ description: 'Why it was refused; null if it was not' })),
  count: Type.Integer({ minimum: 0, description: 'How many jobs or other targets it changed' }),
  reason: nullable(
    Type.String({ maxLength: 500, description: 'The reason that was given; null if none was' }),
  ),
  values: Type.Unsafe<unknown>({ description: 'The values that were set; null if none were' }),
  before: Type.Unsafe<unknown>({ description: 'The values before the change; null if unknown' }),
  address: nullable(Type.String({ description: 'The address of the client; null if unknown' })),
});

const record = 'The audit records what was done, and does not change.';

/** `/audit-entries`: who changed what on the job platform, when and why. */
export function auditEntriesResource({ audit }: Pick<JobStorage, 'audit'>): Resource {
  return defineResource({
    name: 'audit-entries',
    singular: 'audit-entry',
    description:
      'What people, programs and Longshore itself have changed on the job platform. Entries are kept for 400 days.',
    item: AuditEntryItem,
    serverSet: Object.keys(AuditEntryItem.properties) as (keyof typeof AuditEntryItem.properties)[],
    filters: {
      who: { field: 'who', match: 'exact', description: 'Entries of this user or API key.' },
      action: { field: 'action', match: 'exact', description: 'Entries of this action.' },
      target: { field: 'target', match: 'exact', description: 'Entries about this target.' },
      from: { field: 'at', match: 'from', description: 'Entries recorded at this time or later.' },
      until: { field: 'at', match: 'to', description: 'Entries recorded at this time or earlier.' },
    },
    sort: ['at'],
    defaultSort: ['-at'],
    search: [],
    notAllowed: readOnly(record),
    storage: {
      seeks: true,
      list: async (query) => {
        const wanted = wantedBy(query.filters);
        const [page, counted] = await Promise.all([
          seekPage(query, async (part) => ({ rows: await audit.list({ ...part, ...wanted }) })),
          query.count === 'none' ? undefined : audit.count(wanted),
        ]);
        const items = page.items.map(toAuditEntryItem);
        return { ...page, items, total: counted?.count, estimated: counted?.exact === false };
      },
    },
  });
}

function wantedBy(filters: readonly Filter[]): AuditFilter {
  const wanted: { -readonly [Name in keyof AuditFilter]: AuditFilter[Name] } = {};
  for (const { parameter, values } of filters) {
    const text = String(values[0]);
    if (parameter === 'from') wanted.from = new Date(text);
    // The API's bound is inclusive, the log's is not.
    else if (parameter === 'until') wanted.until = new Date(Date.parse(text) + 1);
    else if (parameter === 'who' || parameter === 'action' || parameter === 'target')
      wanted[parameter] = text;
  }
  return wanted;
}

function toAuditEntryItem({
  id,
  at,
  who,
  action,
  target,
  filter,
  count,
  reason,
}: AuditEntry): Static<typeof AuditEntryItem> {
  const { outcome, why, values, before, address } = auditDetails(filter);
  return {
    id,
    at: at.toISOString(),
    who,
    action,
    target,
    outcome,
    why,
    count,
    reason,
    values,
    before,
    address,
  };
}
