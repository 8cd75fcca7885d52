-- Up Migration

-- Whether the parent ended as the dependency requires. Stays true when the parent has left the history, so that a retried
-- dependent does not wait for it again.
alter table job_dependency add column met boolean not null default false;
