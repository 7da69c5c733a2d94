/** SQL that finds the postings in which a room may be: those of the hours whose sums have it. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

/** The hour of `usage_deltas d`. Its sums may be those of quarter-hours. */
const HOUR_OF_DELTA = `date_trunc('hour', d.at, 'UTC')`;

/** Postings by number, from `first` up to and with `last`. */
export interface SeqRange {
  readonly first: bigint;
  readonly last: bigint;
}

export interface RoomSearch extends SeqRange {
  readonly room: string;
  /** Enough hours for so many records of the room, and no further hour after so many records of all rooms. */
  readonly records: number;
  readonly look: number;
}

/** A room that is in few records of each day is looked for in so many days at once. */
const DAYS_AT_ONCE = 31;

/**
 * The newest hours that have the room, as ranges of postings, newest first. None: no posting from `first` to `last` has it.
 *
 * A day or an hour is one look-up by its key; the hours of a day that is not rolled up are looked through. A delta that is not
 * added to the sums yet counts for its hour. The newest day and the newest hour may have the room only after `last`, so they
 * are not taken for enough.
 */
export async function findRoomRanges(db: Db, tenant: TenantId, search: RoomSearch): Promise<SeqRange[]> {
  const { room, first, last, records, look } = search;
  const { rows } = await db.query<SeqRange>({
    name: 'find-room-ranges',
    text: `with ends as materialized (
             select date_trunc('hour', (select at from postings where tenant_id = $1 and seq = $3), 'UTC') as first,
                    date_trunc('hour', (select at from postings where tenant_id = $1 and seq = $4), 'UTC') as last
           ), all_days as (
             select day, case when day < coalesce((select until from usage_rollups where tenant_id = $1), '-infinity')
                         then (select d.records from usage_room_days d
                                where d.tenant_id = $1 and d.day = each.day and d.room = $2)
                         else (select sum(h.records) from usage_room_hours h
                                where h.tenant_id = $1 and h.hour >= each.day and h.hour < each.day + interval '24 hours'
                                  and h.room = $2) end as records
               from ends, generate_series(date_trunc('day', last, 'UTC'), date_trunc('day', first, 'UTC'),
                                          interval '-24 hours') as each (day)
           ), days as materialized (
             select day from (
               select day, sum(case when day <= last - interval '24 hours' then records else 0 end)
                             over (order by day desc rows between unbounded preceding and 1 preceding) as before
                 from all_days, ends where records is not null) as counted
              where coalesce(before, 0) < $5 order by day desc limit ${DAYS_AT_ONCE}
           ), hours as (
             select hour, (select sum(h.records) from usage_room_hours h
                            where h.tenant_id = $1 and h.hour >= each.hour and h.hour < each.hour + interval '1 hour'
                              and h.room = $2) as records,
                    (select sum(h.records) from usage_hours h where h.tenant_id = $1 and h.hour >= each.hour
                                                                and h.hour < each.hour + interval '1 hour') as looked
               from days, generate_series(day, day + interval '23 hours', interval '1 hour') as each (hour)
             union all
             select distinct ${HOUR_OF_DELTA}, 0, 0 from usage_deltas d, json_array_elements(d.sums) as e (sum)
              where d.tenant_id = $1 and d.seq >= $3 and d.seq <= $4 and sum->>0 = $2
                and d.at >= coalesce((select min(day) from days), '-infinity')
           ), chosen as (
             select hour from (
               select hour, sum(case when hour < last then records else 0 end) over earlier as before,
                      sum(looked) over earlier as looked
                 from hours, ends where records is not null and hour between first and last
               window earlier as (order by hour desc rows between unbounded preceding and 1 preceding)) as counted
              where coalesce(before, 0) < $5 and coalesce(looked, 0) < $6
           )
           select greatest($3::bigint, (select seq from postings where tenant_id = $1 and at >= hour
                                         order by at, seq limit 1)) as first,
                  least($4::bigint, (select seq from postings where tenant_id = $1 and at < hour + interval '1 hour'
                                      order by at desc, seq desc limit 1)) as last
             from (select distinct hour from chosen) as each order by hour desc`,
    values: [tenant, room, first, last, records, look],
  });
  return rows;
}
