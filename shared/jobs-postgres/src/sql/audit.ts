import type { AuditEntry } from '@longshore/jobs';
import type { Statement } from '../database.js';

/** The driver gives a bigint as text. */
export type AuditRow = Omit<AuditEntry, 'count'> & { count: string };

/** $1 who, $2 action, $3 target, $4 filter, $5 count. */
export const insertAudit: Statement = {
  name: 'longshore-insert-audit',
  text: `insert into longshore.audit (who, action, target, filter, count) values ($1, $2, $3, $4, $5)`,
};

/** $1 limit, $2 the id to go on after, or null. */
export const selectAudit: Statement = {
  name: 'longshore-select-audit',
  text: `
    select id, at, who, action, target, filter, count from longshore.audit
    where id < coalesce($2::bigint, 9223372036854775807)
    order by id desc limit $1`,
};

export const deleteOldAudit: Statement = {
  name: 'longshore-delete-old-audit',
  text: `delete from longshore.audit where at < now() - interval '400 days'`,
};
