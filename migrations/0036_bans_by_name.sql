-- A ban of a room holds for the room's name, also after the room has ended and is made again. `room_uid` stays the room in
-- which it was set.
alter table bans add column room text;

-- These bans ended with their rooms. They do not come back.
update bans b set lifted_at = r.ended_at
  from rooms r
 where r.tenant_id = b.tenant_id and r.uid = b.room_uid and r.state <> 'LIVE' and b.lifted_at is null;
update bans b set room = r.name
  from rooms r
 where r.tenant_id = b.tenant_id and r.uid = b.room_uid;
alter table bans add constraint bans_room check ((room is null) = (room_uid is null));

drop index bans_standing;
create unique index bans_standing on bans (tenant_id, kind, value, coalesce(room, '')) where lifted_at is null;
drop index bans_of_rooms;
create index bans_of_rooms on bans (tenant_id, room) where lifted_at is null and room is not null;
