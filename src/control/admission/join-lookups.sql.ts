/** SQL that looks up what a join begins with. Uses database time. */
import { type CredentialInUse, findCredentialsById } from '../../access/devices/device-credentials.sql.ts';
import { IS_WORKING, NOT_EXPIRED } from '../../access/rights/working-key.sql.ts';
import { isDistributed } from '../../base/db/distribution.ts';
import type { Pool } from '../../base/db/pool.ts';
import { countEach, windowsOf } from '../../base/limits/rate-limit.ts';
import { countingText, SHARED_LOCK_MS, type Window } from '../../base/limits/rate-limits.sql.ts';
import { ROOM_DEFAULT } from '../rooms/room.ts';
import { ENTRY_STATE, ENTRY_STATE_JOINS, type Entrant, type EntryState } from './entry-state.sql.ts';
import { JOINS_PER_MINUTE, JOINS_WINDOW_SECONDS, joinsKeyOf } from './join-limit.ts';

/** A device credential that a request shows. */
export interface ShownCredential {
  readonly id: string;
  /** The hash of what is shown. */
  readonly hash: Buffer;
  /** Whether it counts as a join: once for each request. */
  readonly isCounted: boolean;
  /** Who wants to join with it; `undefined`: the body has not arrived. */
  readonly joining: Joining | undefined;
}

/** `room`: `undefined` for the default room of the credential. */
export type Joining = Omit<Entrant, 'tenant' | 'room'> & { readonly room: string | undefined };

export interface JoinLookup extends CredentialInUse {
  /** The joins of the minute, with this one; `undefined`: not counted, or the credential may not join. */
  readonly joins: Window | undefined;
  /** `undefined`: not looked up. That of a tenant that never paid is looked up in its turn, so that its bans delay no others. */
  readonly state: EntryState | undefined;
}

interface LookupRow extends CredentialInUse, EntryState {
  readonly at: number;
  readonly mayJoin: boolean;
  readonly points: number;
  readonly msLeft: number;
  readonly isLookedUp: boolean;
}

/** Only those that may join are counted. Beyond the limit, a join is refused whatever the state is. */
const IS_LOOKED_UP = `shown.may_join and coalesce(counted.points, 0) <= ${JOINS_PER_MINUTE} and t.status <> 'pending'`;

const LOOKUPS = `with shown as materialized (
       select a.at, c.tenant_id, c.id, c.hash, c.publish, c.rooms, c.default_room, w.is_working,
              w.is_working and c.hash = decode(a.hash, 'hex') and cardinality(c.publish) > 0 as may_join, a.counts,
              case when a.username is not null then coalesce(a.room, c.default_room, $4) end as room,
              a.username, a.device, a.address
         from (select set_config('lock_timeout', $5, true)) as s,
              json_to_recordset($1) as a (at integer, credential text, hash text, counts boolean, room text, username text, device text,
                                          address inet)
         join device_credentials c on c.id = a.credential
        cross join lateral (select (${IS_WORKING} and ${NOT_EXPIRED}) as is_working) w
     ), counted as (
       ${countingText('select $2 || id as key, count(*)::integer as amount from shown where may_join and counts group by id', '$3')}
     )
     select shown.at, shown.tenant_id as tenant, shown.id as "credentialId", shown.hash, shown.publish, shown.rooms,
            shown.default_room as "defaultRoom", t.status as "tenantStatus", t.limits as "tenantLimits",
            shown.is_working as "isWorking", shown.may_join as "mayJoin",
            counted.points, counted."msLeft", g.username is not null as "isLookedUp", ${ENTRY_STATE}
       from shown join tenants t on t.id = shown.tenant_id
       left join counted on counted.key = $2 || shown.id
      cross join lateral (select shown.tenant_id, case when ${IS_LOOKED_UP} then shown.room end as room,
                                 case when ${IS_LOOKED_UP} then shown.username end as username, shown.device, shown.address) g
       ${ENTRY_STATE_JOINS}
      order by shown.at`;

/**
 * For each that is shown: the credential with its id, counted if it may join; `undefined`: there is none. Where tables are
 * distributed, the state has a statement of its own, because it is on the server of the tenant.
 */
export function findJoinLookups(
  db: Pool,
  shown: readonly ShownCredential[],
): Promise<readonly (JoinLookup | undefined)[]> {
  return isDistributed() ? lookUpInSteps(db, shown) : lookUpAtOnce(db, shown);
}

async function lookUpAtOnce(
  db: Pool,
  shown: readonly ShownCredential[],
): Promise<readonly (JoinLookup | undefined)[]> {
  const { rows } = await db.query<LookupRow>({
    name: 'find-join-lookups',
    text: LOOKUPS,
    values: [asked(shown), joinsKeyOf(''), JOINS_WINDOW_SECONDS * 1000, ROOM_DEFAULT, String(SHARED_LOCK_MS)],
  });
  const isCounted = ({ at, mayJoin }: LookupRow) => mayJoin && shown[at]!.isCounted;
  const counted = rows.filter(isCounted);
  const windowOf = new Map(
    counted.map(({ credentialId, points, msLeft }) => [credentialId, { points, msLeft }]),
  );
  const windows = windowsOf(
    counted.map(({ credentialId }) => ({ key: credentialId, amount: 1 })),
    (id) => windowOf.get(id)!,
  );
  const found = shown.map((): JoinLookup | undefined => undefined);
  for (const each of rows) {
    const { at, mayJoin: _, points: __, msLeft: ___, isLookedUp, ...row } = each;
    found[at] = {
      ...row,
      joins: isCounted(each) ? windows.shift() : undefined,
      state: isLookedUp ? row : undefined,
    };
  }
  return found;
}

async function lookUpInSteps(
  db: Pool,
  shown: readonly ShownCredential[],
): Promise<readonly (JoinLookup | undefined)[]> {
  const credentials = await findCredentialsById(db, [...new Set(shown.map(({ id }) => id))]);
  const isToCount = ({ id, hash, isCounted }: ShownCredential) => {
    const found = credentials.get(id);
    return isCounted && found?.isWorking === true && found.hash.equals(hash) && found.publish.length > 0;
  };
  const counts = shown.filter(isToCount).map(({ id }) => ({ key: joinsKeyOf(id), amount: 1 }));
  const windows = counts.length > 0 ? await countEach(db, JOINS_WINDOW_SECONDS, counts) : [];
  return shown.map((each) => {
    const found = credentials.get(each.id);
    return found && { ...found, joins: isToCount(each) ? windows.shift() : undefined, state: undefined };
  });
}

function asked(shown: readonly ShownCredential[]): string {
  return JSON.stringify(
    shown.map(({ id, hash, isCounted, joining }, at) => ({
      at,
      credential: id,
      hash: hash.toString('hex'),
      counts: isCounted,
      room: joining?.room,
      username: joining?.username,
      device: joining?.thumbprint,
      address: joining?.address,
    })),
  );
}
