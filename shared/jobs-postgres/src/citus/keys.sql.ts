import { type Forms, replacedBy } from './form.js';

const claimUnique = replacedBy(`
    with wanted as materialized (
      select namespace, key, job_id, states::longshore.job_state[] as states,
        now() + period_ms * interval '1 millisecond' as expires_at, fingerprint
      from unnest($2::text[], $3::text[], $4::uuid[], $5::text[], $6::float8[], $7::text[])
        as wanted (namespace, key, job_id, states, period_ms, fingerprint)
    )
    update longshore.job_key as held
    set job_id = wanted.job_id, states = wanted.states, expires_at = wanted.expires_at, fingerprint = wanted.fingerprint
    from wanted
    where held.queue_id = $1 and held.namespace = wanted.namespace and held.key = wanted.key`);

/**
 * Citus forms of statements about unique keys. A job that cannot be found might be moving between nodes. The functions
 * then wait until moves have been committed, and search again.
 */
export const keyForms: Forms = {
  'longshore-claim-unique': claimUnique,
  'longshore-select-holders': replacedBy('select * from longshore.holders_of($1, $2::uuid[], $3::boolean[])'),
  'longshore-sweep-unique': replacedBy('select * from longshore.sweep_unique($1, $2, $3, $4)'),
  'longshore-delete-gone-moved-jobs': replacedBy('select longshore.delete_gone_moved_jobs($1)::text'),
};
