-- The shop and the fleet of the example application.
create extension if not exists pg_trgm with schema public;

create table shop.store (
  id text primary key check (id ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
  name text not null,
  city text not null,
  created_at timestamptz not null default now()
);

create table shop.customer (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  email text not null unique,
  status text not null default 'active' check (status in ('active', 'blocked')),
  created_at timestamptz not null default now()
);

create table shop.customer_group (
  id uuid primary key default gen_random_uuid(),
  name text not null unique,
  description text
);

create table shop.group_membership (
  group_id uuid not null references shop.customer_group on delete cascade,
  customer_id uuid not null references shop.customer on delete cascade,
  primary key (group_id, customer_id)
);
create index on shop.group_membership (customer_id);

create sequence shop.order_number start 1000;

create table shop.order (
  id uuid primary key default gen_random_uuid(),
  number text not null unique default 'ORD-' || lpad(nextval('shop.order_number')::text, 8, '0'),
  customer_id uuid not null references shop.customer,
  store_id text not null references shop.store,
  status text not null default 'open' check (status in (
    'open', 'paid', 'shipped', 'cancellation-requested', 'cancelled', 'returned', 'refunding', 'refunded'
  )),
  total numeric(12, 2) not null default 0,
  address text not null,
  note text,
  created_at timestamptz not null default now()
);

create table shop.line_item (
  id uuid primary key default gen_random_uuid(),
  order_id uuid not null references shop.order on delete cascade,
  product text not null,
  quantity int not null check (quantity > 0),
  price numeric(10, 2) not null check (price >= 0)
);

-- The total of an order is the sum of its line items. Triggers keep it up to date, no matter which program changes the
-- items. They run once per statement rather than once per row, so that bulk changes stay fast.
create function shop.sum_orders() returns trigger language plpgsql as $$
begin
  update shop.order o
  set total = coalesce((select sum(quantity * price) from shop.line_item where order_id = o.id), 0)
  where o.id in (select order_id from changed);
  return null;
exception when numeric_value_out_of_range then
  raise exception using errcode = 'check_violation',
    message = 'The total of an order is at most 9999999999.99: lower the quantity or the price';
end $$;
create trigger line_item_inserted after insert on shop.line_item
  referencing new table as changed for each statement execute function shop.sum_orders();
create trigger line_item_updated after update on shop.line_item
  referencing new table as changed for each statement execute function shop.sum_orders();
create trigger line_item_deleted after delete on shop.line_item
  referencing old table as changed for each statement execute function shop.sum_orders();

create table shop.cancellation (
  id uuid primary key default gen_random_uuid(),
  order_id uuid not null references shop.order on delete cascade,
  reason text,
  status text not null default 'requested' check (status in ('requested', 'approved', 'rejected')),
  created_at timestamptz not null default now()
);
create unique index on shop.cancellation (order_id) where status = 'requested';

-- Each order can have only one entry, so a refund job that runs twice cannot refund an order twice.
create table shop.ledger_entry (
  id uuid primary key default gen_random_uuid(),
  order_id uuid not null unique references shop.order on delete cascade,
  amount numeric(12, 2) not null,
  created_at timestamptz not null default now()
);

create table shop.car (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  plate text not null unique,
  colour text not null,
  status text not null default 'available' check (status in ('available', 'on-tour', 'in-repair'))
);

create table shop.driver (
  id uuid primary key default gen_random_uuid(),
  car_id uuid not null references shop.car,
  name text not null,
  status text not null default 'active' check (status in ('active', 'on-leave'))
);

create table shop.ticket (
  id uuid primary key default gen_random_uuid(),
  customer_id uuid references shop.customer on delete set null,
  subject text not null,
  status text not null default 'open' check (status in ('open', 'closed')),
  created_at timestamptz not null default now()
);

-- The customers of each store, with the amount that they have spent there.
create view shop.store_customer as
  select o.store_id, c.id, c.name, c.email, c.status, sum(o.total) as cost
  from shop.order o join shop.customer c on c.id = o.customer_id
  where o.status in ('paid', 'shipped', 'cancellation-requested')
  group by o.store_id, c.id;

create view shop.group_customer as
  select m.group_id, c.id, c.name, c.email, c.status
  from shop.group_membership m join shop.customer c on c.id = m.customer_id;
