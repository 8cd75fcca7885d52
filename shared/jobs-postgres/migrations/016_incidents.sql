-- Up Migration
-- Needs: 016_incidents

-- Warnings from their beginning to their end, and as history for 30 days afterwards (docs/adr/060). Takes the place of the
-- table of active warnings, which older programs read.
drop table alert;

create table incident (
  id uuid primary key,
  kind text not null,
  key text collate "C" not null,
  subject text not null,
  text text not null,
  advice text not null,
  -- A path inside the dashboard.
  link text not null,
  is_measured boolean not null,
  is_recovering boolean not null,
  since timestamptz not null,
  seen_at timestamptz not null,
  -- Null while it lasts.
  ended_at timestamptz,
  ending text check (ending in ('recovered', 'resolved', 'replaced')),
  -- Whether the beginning was sent as a separate message. If so, a message also announces the end.
  announced boolean not null,
  acknowledged_at timestamptz,
  acknowledged_by text,
  acknowledge_reason text,
  -- Until when no messages are sent about the key; null if it is not muted.
  muted_until timestamptz,
  muted_by text,
  mute_reason text
);

-- At most one incident of each key lasts. Also finds the incidents that last.
create unique index incident_active on incident (key) where ended_at is null;

-- The webhooks to which processes send messages, and when they were last registered.
create table alert_target (
  target text primary key,
  registered_at timestamptz not null
);

alter table alert_turn rename to incident_turn;
