-- A renewal changed two rows in tables with an index by time, so each wrote new entries into all indexes of both.
-- The sweep that looks for participants whose last token expired now goes by rooms.

-- Rooms with participants who have not left. None of them lapses before `due_at`.
create table room_lapses (
  tenant_id bigint not null,
  room_uid  text not null,
  due_at    timestamptz not null,
  primary key (tenant_id, room_uid),
  foreign key (tenant_id, room_uid) references rooms
);
create index room_lapses_due on room_lapses (due_at);

insert into room_lapses (tenant_id, room_uid, due_at)
select tenant_id, room_uid, min(expires_at) from participants where left_at is null group by tenant_id, room_uid;

-- Renewals only move `expires_at` later, so they do not come here. Whoever enters has locked the room, as the sweep
-- has that moves `due_at` later, so neither overlooks the other.
create function note_lapse() returns trigger language plpgsql as $$
begin
  -- "is true" keeps the planner on the primary key.
  if not exists (select from room_lapses where tenant_id = new.tenant_id and room_uid = new.room_uid
                    and (due_at <= new.expires_at) is true) then
    insert into room_lapses as l (tenant_id, room_uid, due_at) values (new.tenant_id, new.room_uid, new.expires_at)
    on conflict (tenant_id, room_uid) do update set due_at = least(l.due_at, excluded.due_at);
  end if;
  return null;
end
$$;

create trigger note_lapse_of_new after insert on participants
  for each row when (new.left_at is null) execute function note_lapse();
create trigger note_earlier_lapse after update of expires_at, left_at on participants
  for each row when (new.left_at is null and (old.left_at is not null or new.expires_at < old.expires_at))
  execute function note_lapse();

drop index participants_present;
drop index admissions_by_expiry;
-- Began with the tenant: plans from when the table was small read all devices of the tenant by it, to find one user.
drop index admissions_by_device;
create index admissions_by_device on admissions (device, tenant_id);
-- Room for the next version of a row on its own page.
alter table participants set (fillfactor = 85);
alter table admissions set (fillfactor = 85);
