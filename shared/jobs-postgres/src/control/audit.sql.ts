import type { AuditEntry } from '@longshore/jobs';
import type { Statement } from '../connection/database.js';

/** The driver gives a bigint as text. */
export type AuditRow = Omit<AuditEntry, 'count'> & { count: string };

/** $1 who, $2 action, $3 target, $4 filter, $5 count. */
export const insertAudit: Statement = {
  name: 'longshore-insert-audit',
  text: `insert into longshore.audit (who, action, target, filter, count) values ($1, $2, $3, $4, $5) returning id`,
};

/** $1 id, $2 target, $3 filter, $4 count. */
export const amendAudit: Statement = {
  name: 'longshore-amend-audit',
  text: `update longshore.audit set target = $2, filter = $3, count = $4 where id = $1::bigint`,
};

/** $1 limit; the others may be null: $2 the id to go on after, $3 who, $4 action, $5 target. */
export const selectAudit: Statement = {
  name: 'longshore-select-audit',
  text: `
    select id, at, who, action, target, filter, count from longshore.audit
    where id < coalesce($2::bigint, 9223372036854775807) and who = coalesce($3::text, who)
      and action = coalesce($4::text, action) and ($5::text is null or target = $5::text)
    order by id desc limit $1`,
};

export const deleteOldAudit: Statement = {
  name: 'longshore-delete-old-audit',
  text: `delete from longshore.audit where at < now() - interval '400 days'`,
};
