-- Up Migration
-- Part of the first release: the tables are empty when this runs, so their indexes may be made outright (CONTRIBUTING.md).

-- So that the running day of history can be searched by queue and by name (docs/adr/008). A block-range index is not written
-- when a job ends; vacuum fills it in. Bloom filters, for queues and names have no order in time. Days that have ended get
-- better indexes from housekeeping.
create index job_done_origin on job_done using brin (
  queue_id int4_bloom_ops (n_distinct_per_range = 128),
  name text_bloom_ops (n_distinct_per_range = 64)
) with (pages_per_range = 4);
