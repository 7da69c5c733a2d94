/** SQL of `usage_deltas`, and of the sums that they are added to. */
import { isDistributed } from '../../base/db/distribution.ts';
import { runTogether, type Statement } from '../../base/db/pipeline.ts';
import type { Tx } from '../../base/db/pool.ts';
import { ALL, type Share } from '../../base/tenants/shares.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { ALL_SUMS, endOfPart, type RolledUpSums } from './rolled-up-sums.ts';

/** What each of the sums counts. */
export const MEASURES = [
  'records',
  'seconds',
  'egress_bytes',
  'ingress_bytes',
  'amount',
  'unbilled',
] as const;

/** Any fixed number that nothing else locks. */
export const ROLL_UP_LOCK = 7_263_530;

/** A whole number; a text if a JSON number would not hold it exactly. */
type Whole = number | string;

/** As a posting left it: room, role, tier, and the measures in their order. */
export type DeltaSum = readonly [room: string, role: string, tier: string, ...measures: Whole[]];

/** `usage_deltas d` as rows `s` like those of the tables of sums. */
export const DELTA_SUMS = `json_array_elements(d.sums) as e (sum), lateral (
  select sum->>0 as room, (sum->>1)::"char" as role, (sum->>2)::"char" as tier,
         ${MEASURES.map((each, at) => `(sum->>${at + 3})::numeric as ${each}`).join(', ')}) as s`;

export interface Delta {
  readonly tenant: TenantId;
  readonly at: Date;
  readonly sums: readonly DeltaSum[];
  /** Bytes, as the database keeps `sums`. */
  readonly size: number;
}

/** Bytes, so about 10,000 sums: one delta of 5,000 rooms has up to 50,000. A thousand of those would stop the process. */
export const SIZE_MAX = 65_536;

/** Until the transaction ends, no day is rolled up. Folding does not wait for folding. */
export async function shareRollUp(tx: Tx): Promise<void> {
  await tx.query({
    name: 'share-roll-up',
    text: 'select pg_advisory_xact_lock_shared($1)',
    values: [ROLL_UP_LOCK],
  });
}

/**
 * Delete some deltas that no other process has taken, and return them: up to `limit`, or until they have SIZE_MAX. They come back if the
 * transaction fails.
 */
export async function takeDeltas(tx: Tx, limit: number, share: Share = ALL): Promise<Delta[]> {
  const { rows } = await tx.query<Delta>({
    name: share.name('take-usage-deltas'),
    text: isDistributed() ? takeFrom(share) : TAKE,
    values: [limit, ...share.values],
  });
  return rows;
}

const nextDeltas = (where = '') => `select tenant_id, seq from (
    select tenant_id, seq, sum(size) over (order by tenant_id, seq) - size as before
      from (select tenant_id, seq, pg_column_size(sums) as size from usage_deltas ${where}
             order by tenant_id, seq limit $1 for update skip locked) as free) as counted
   where before < ${SIZE_MAX}`;

const TAKE = `delete from usage_deltas d where (tenant_id, seq) in (${nextDeltas()})
  returning tenant_id as tenant, at, sums, pg_column_size(sums) as size`;

const takeFrom = (share: Share) => `with taken as (
    ${nextDeltas(`where true ${share.and('tenant_id', 2)}`)}
  ), d as (
    delete from usage_deltas d using taken
     where d.tenant_id = taken.tenant_id and d.seq = taken.seq ${share.and('d.tenant_id', 2)}
    returning d.*
  )
  select tenant_id as tenant, at, sums, pg_column_size(sums) as size from d`;

/** A row of a table of sums. */
export interface HourSum {
  readonly tenant_id: string;
  /** The start of the hour; of a tenant that has set a time zone, of the quarter-hour. */
  readonly hour: string;
  readonly room: string;
  readonly role: string;
  readonly tier: string;
  /** In the order of MEASURES. */
  readonly measures: readonly bigint[];
}

const NAMES = MEASURES.join(', ');
const ADD = `do update set ${MEASURES.map((each) => `${each} = u.${each} + excluded.${each}`).join(', ')}`;

/**
 * Add sums of the share to those of hours, and of days, weeks and months that were rolled up before. Needs the lock of `shareRollUp`. All
 * processes add in the same order of tables and rows, so none deadlocks.
 */
export async function addSums(tx: Tx, sums: readonly HourSum[], share: Share): Promise<void> {
  const rows = sums.map(({ measures, ...row }) => ({
    ...row,
    ...Object.fromEntries(MEASURES.map((name, at) => [name, String(measures[at])])),
  }));
  const values = [JSON.stringify(rows), ...(share.values as readonly TenantId[])];
  const adding = isDistributed() ? addEach(share) : [{ name: 'add-usage-sums', text: ADD_ALL }];
  await runTogether(
    tx,
    adding.map((statement) => ({ ...statement, values })),
  );
}

const GIVEN = `select * from json_to_recordset($1) as s (tenant_id bigint, hour timestamptz, room text, role "char",
  tier "char", ${MEASURES.map((each) => `${each} numeric`).join(', ')})`;

interface Adding {
  readonly table: string;
  /** `from`: GIVEN as `sums`; `where`: a condition on those rows, or nothing. */
  readonly text: (from: string, where: string) => string;
}

const HOURS: Adding = {
  table: 'usage_hours',
  text: (from, where) => `insert into usage_hours as u (tenant_id, hour, role, tier, ${NAMES})
    select tenant_id, hour, role, tier, ${MEASURES.map((each) => `sum(${each})`).join(', ')} from ${from}
     where true ${where} group by tenant_id, hour, role, tier order by tenant_id, hour, role, tier
    on conflict (tenant_id, hour, role, tier) ${ADD}`,
};

const ROOM_HOURS: Adding = {
  table: 'usage_room_hours',
  text: (from, where) => `insert into usage_room_hours as u (tenant_id, hour, room, role, tier, ${NAMES})
    select tenant_id, hour, room, role, tier, ${NAMES} from ${from}
     where true ${where} order by tenant_id, hour, room collate "C", role, tier
    on conflict (tenant_id, hour, room, role, tier) ${ADD}`,
};

/** To days, weeks and months that were rolled up before. */
const LATE = ALL_SUMS.flatMap((sums) => sums.tables.map((table) => addLate(sums, table)));

function addLate({ key, until }: RolledUpSums, { part, name }: RolledUpSums['tables'][number]): Adding {
  const inC = key.map((each) => (each === 'room' ? 'room collate "C"' : each)).join(', ');
  const of = key.join(', ');
  return {
    table: name,
    text: (from, where) => `insert into ${name} as u (tenant_id, ${part}, ${of}, ${NAMES})
      select tenant_id, date_trunc('${part}', hour, 'UTC') as ${part}, ${of},
             ${MEASURES.map((each) => `sum(${each})`).join(', ')}
        from ${from} join usage_rollups using (tenant_id)
       where ${endOfPart(part, `date_trunc('${part}', hour, 'UTC')`)} <= ${until} ${where}
       group by tenant_id, ${part}, ${of} order by tenant_id, ${part}, ${inC}
      on conflict (tenant_id, ${part}, ${of}) ${ADD}`,
  };
}

const ADD_ALL = `with sums as materialized (${GIVEN}), hours as (${HOURS.text('sums', '')}),
    ${LATE.map(({ text }, at) => `late_${at} as (${text('sums', '')})`).join(', ')}
  ${ROOM_HOURS.text('sums', '')}`;

/** Citus would send the rows of one statement for all tables to every server, and look for what was rolled up on all of them. */
function addEach(share: Share): Statement[] {
  return [HOURS, ...LATE, ROOM_HOURS].map(({ table, text }) => ({
    name: share.name(`add-to-${table}`),
    text: text(`(${GIVEN}) as sums`, share.and('tenant_id', 2)),
  }));
}
