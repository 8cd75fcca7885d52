-- Up Migration
create table purchase (
  id integer primary key,
  state text not null default 'ordered'
);
create table receipt (purchase integer primary key references purchase, sent_to text not null);
