/** SQL of `erasures`. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { ERASURE_STEPS, type Erasure, type ErasureStep } from './erasure.ts';

const ERASURE = `id, state, records, others, created_at as "createdAt", finished_at as "finishedAt"`;

/** Insert the erasure of a name, unless one of that name is pending: then `undefined`. */
export async function insertErasure(tx: Tx, tenant: TenantId, name: string): Promise<Erasure | undefined> {
  const { rows } = await tx.query<Erasure>({
    name: 'insert-erasure',
    text: `insert into erasures (tenant_id, id, name, step) values ($1, $2, $3, '${ERASURE_STEPS[0]}')
           on conflict (tenant_id, name) where state = 'pending' do nothing
           returning ${ERASURE}`,
    values: [tenant, newId('er'), name],
  });
  return rows[0];
}

/** Count rows that have lost the name with the request. */
export async function addOthers(tx: Tx, tenant: TenantId, id: string, others: number): Promise<Erasure> {
  const { rows } = await tx.query<Erasure>({
    name: 'add-others-to-erasure',
    text: `update erasures set others = others + $3 where tenant_id = $1 and id = $2 returning ${ERASURE}`,
    values: [tenant, id, others],
  });
  return rows[0]!;
}

export async function findErasure(db: Db, tenant: TenantId, id: string): Promise<Erasure | undefined> {
  const { rows } = await db.query<Erasure>({
    name: 'find-erasure',
    text: `select ${ERASURE} from erasures where tenant_id = $1 and id = $2`,
    values: [tenant, id],
  });
  return rows[0];
}

/** The newest first. */
export async function findErasures(db: Db, tenant: TenantId, limit: number): Promise<Erasure[]> {
  const { rows } = await db.query<Erasure>({
    name: 'find-erasures',
    text: `select ${ERASURE} from erasures where tenant_id = $1 order by created_at desc, id desc limit $2`,
    values: [tenant, limit],
  });
  return rows;
}

export async function findPendingErasure(
  db: Db,
  tenant: TenantId,
  name: string,
): Promise<Erasure | undefined> {
  const { rows } = await db.query<Erasure>({
    name: 'find-pending-erasure',
    text: `select ${ERASURE} from erasures where tenant_id = $1 and name = $2 and state = 'pending'`,
    values: [tenant, name],
  });
  return rows[0];
}

export async function countPendingErasures(db: Db, tenant: TenantId): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count-pending-erasures',
    text: `select count(*)::integer as count from erasures where tenant_id = $1 and state = 'pending'`,
    values: [tenant],
  });
  return rows[0]!.count;
}

export interface ErasureKey {
  readonly tenant: TenantId;
  readonly id: string;
}

/** One or several erasures of a tenant that have come equally far, and are locked by this transaction. */
export interface Claim {
  readonly tenant: TenantId;
  readonly step: ErasureStep;
  /** The key of the last row that was looked at in this step; `''` at its beginning. */
  readonly position: string;
  readonly erasures: readonly { readonly id: string; readonly name: string }[];
}

/** Names are compared with every row of a part. */
const TOGETHER_MAX = 100;

/**
 * Lock the oldest pending erasure that no other process has, and those of the same tenant that have come as far.
 * `only`: this one and those with it.
 *
 * While one is worked through, later ones gather at the beginning. So a thousand requests cost a few passes, not a
 * thousand.
 */
export async function claimErasures(tx: Tx, only?: ErasureKey): Promise<Claim | undefined> {
  const { name, where, values } = filtered('claim-erasure', [], {
    only: only && ['tenant_id = ? and id = ?', only.tenant, only.id],
  });
  const { rows } = await tx.query<ErasureKey>({
    name,
    text: `select tenant_id as tenant, id from erasures where state = 'pending' and next_at <= now() ${where}
            order by created_at limit 1 for update skip locked`,
    values,
  });
  const first = rows[0];
  return first && claimTogether(tx, first);
}

async function claimTogether(tx: Tx, first: ErasureKey): Promise<Claim> {
  type Row = Pick<Claim, 'step' | 'position'> & Claim['erasures'][number];
  const { rows } = await tx.query<Row>({
    name: 'claim-erasures-with',
    text: `select e.id, e.name, e.step, e.position
             from erasures f
             join erasures e on e.tenant_id = f.tenant_id and e.step = f.step and e.position = f.position
            where f.tenant_id = $1 and f.id = $2 and e.state = 'pending'
            order by e.id = f.id desc, e.created_at limit ${TOGETHER_MAX} for update of e skip locked`,
    values: [first.tenant, first.id],
  });
  const [{ step, position }] = rows as [Row];
  return { tenant: first.tenant, step, position, erasures: rows.map(({ id, name }) => ({ id, name })) };
}

/** What a part of an erasure has changed. */
export interface Erased {
  readonly id: string;
  readonly records: number;
  readonly others: number;
}

/** Store how far claimed erasures have come. */
export async function moveErasures(
  tx: Tx,
  claim: Claim,
  next: Pick<Claim, 'step' | 'position'>,
  erased: readonly Erased[],
): Promise<void> {
  await tx.query({
    name: 'move-erasures',
    text: `update erasures e set step = $5, position = $6, ${ADD_COUNTS}`,
    values: [...countsOf(claim, erased), next.step, next.position],
  });
}

/** Mark claimed erasures as done, and forget the names. */
export async function finishErasures(tx: Tx, claim: Claim, erased: readonly Erased[]): Promise<void> {
  await tx.query({
    name: 'finish-erasures',
    text: `update erasures e set state = 'done', name = null, position = '', finished_at = clock_timestamp(),
                  ${ADD_COUNTS}`,
    values: countsOf(claim, erased),
  });
}

const ADD_COUNTS = `records = e.records + n.records, others = e.others + n.others
    from unnest($2::text[], $3::bigint[], $4::bigint[]) as n (id, records, others)
   where e.tenant_id = $1 and e.id = n.id`;

function countsOf({ tenant }: Claim, erased: readonly Erased[]): unknown[] {
  return [
    tenant,
    erased.map(({ id }) => id),
    erased.map(({ records }) => records),
    erased.map(({ others }) => others),
  ];
}

/** Leave erasures alone for a while, because a part of them failed. */
export async function postponeErasures(db: Db, { tenant, erasures }: Claim, seconds: number): Promise<void> {
  await db.query({
    name: 'postpone-erasures',
    text: `update erasures set next_at = now() + make_interval(secs => $3)
            where tenant_id = $1 and id = any($2) and state = 'pending'`,
    values: [tenant, erasures.map(({ id }) => id), seconds],
  });
}
