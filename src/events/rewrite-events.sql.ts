/** SQL that changes what stored events tell. Their numbers, times and types stay. */
import type { Tx } from '../base/db/pool.ts';
import type { TenantId } from '../base/tenants/tenant.ts';

const EVENTS_AT_ONCE = 500;

/** Which events `rewrite` gets. */
export interface Rewriting {
  /** All of these types. */
  readonly types: readonly string[];
  /** And those whose subjects contain one of these texts anywhere. */
  readonly texts: readonly string[];
  /** Returns the same object if it has nothing to change. */
  readonly rewrite: (subject: object) => object;
}

interface Stored {
  readonly key: bigint;
  readonly subject: object;
}

/** Rewrite the tenant's next events after number `after`. Returns the number of the last one; `undefined`: there are no more. */
export async function rewriteEvents(
  tx: Tx,
  tenant: TenantId,
  after: bigint,
  rewriting: Rewriting,
): Promise<bigint | undefined> {
  const { rows } = await tx.query<{ last: bigint | null } & (Stored | { key: null })>({
    name: 'find-events-to-rewrite',
    text: `with part as materialized (
             select seq, type, subject from events where tenant_id = $1 and seq > $2
              order by seq limit ${EVENTS_AT_ONCE}
           )
           select l.last, p.seq as key, p.subject
             from (select case when count(*) = ${EVENTS_AT_ONCE} then max(seq) end as last from part) l
             left join part p on ${isWanted('$3', '$4')}`,
    values: [tenant, after, rewriting.types, jsonTexts(rewriting)],
  });
  const changed = rewriteEach(
    rows.flatMap((row) => (row.key === null ? [] : [row])),
    rewriting,
  );
  await tx.query({
    name: 'rewrite-events',
    text: `update events e set subject = n.subject::jsonb
             from unnest($2::bigint[], $3::text[]) as n (key, subject)
            where e.tenant_id = $1 and e.seq = n.key`,
    values: [tenant, ...changed],
  });
  return rows[0]!.last ?? undefined;
}

/** Rewrite the tenant's events that have no number yet. Those of transactions that are still open are missing. */
export async function rewriteUnnumberedEvents(tx: Tx, tenant: TenantId, rewriting: Rewriting): Promise<void> {
  const { rows } = await tx.query<Stored>({
    name: 'find-unnumbered-events-to-rewrite',
    text: `select id as key, subject from unnumbered_events p
            where tenant_id = $1 and ${isWanted('$2', '$3')}`,
    values: [tenant, rewriting.types, jsonTexts(rewriting)],
  });
  const changed = rewriteEach(rows, rewriting);
  await tx.query({
    name: 'rewrite-unnumbered-events',
    text: `update unnumbered_events e set subject = n.subject::jsonb
             from unnest($2::bigint[], $3::text[]) as n (key, subject)
            where e.tenant_id = $1 and e.id = n.key`,
    values: [tenant, ...changed],
  });
}

/** For `p`, with its columns `type` and `subject`. */
function isWanted(types: string, texts: string): string {
  return `(p.type = any(${types})
    or exists (select from unnest(${texts}::text[]) as t (text) where strpos(p.subject::text, t.text) > 0))`;
}

/** As they stand in JSON. */
function jsonTexts({ texts }: Rewriting): string[] {
  return texts.map((text) => JSON.stringify(text).slice(1, -1));
}

function rewriteEach(
  rows: readonly Stored[],
  { rewrite }: Rewriting,
): readonly [keys: bigint[], subjects: string[]] {
  const changed = rows.flatMap(({ key, subject }) => {
    const rewritten = rewrite(subject);
    return rewritten === subject ? [] : [{ key, rewritten }];
  });
  return [changed.map(({ key }) => key), changed.map(({ rewritten }) => JSON.stringify(rewritten))];
}
