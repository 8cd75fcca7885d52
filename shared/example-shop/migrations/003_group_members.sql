-- Makes the view shop.group_customer writable: inserting a row adds a membership, and deleting a row removes one.

create function shop.add_group_member() returns trigger language plpgsql as $$
begin
  insert into shop.group_membership (group_id, customer_id) values (new.group_id, new.id);
  return new;
end $$;

create trigger add_member instead of insert on shop.group_customer
  for each row execute function shop.add_group_member();

create function shop.remove_group_member() returns trigger language plpgsql as $$
begin
  delete from shop.group_membership where group_id = old.group_id and customer_id = old.id;
  return case when found then old end;
end $$;

create trigger remove_member instead of delete on shop.group_customer
  for each row execute function shop.remove_group_member();
