/** SQL of `card_breakers`: declined cards and the end of their back-off. */
import type { Tx } from '../../base/db/pool.ts';

/**
 * Count a decline and return the end of the back-off: after 1, 2, 4 hours, or never from the
 * `suspendAfter`-th decline on, or at once if `hard`.
 */
export async function tripBreaker(
  tx: Tx,
  fingerprint: string,
  { hard, suspendAfter }: { hard: boolean; suspendAfter: number },
): Promise<Date | 'infinity'> {
  const { rows } = await tx.query<{ until: Date | number }>({
    name: 'trip-breaker',
    text: `insert into card_breakers as b (fingerprint, declines, blocked_until)
           values ($1, 1, case when $2 then 'infinity' else now() + interval '1 hour' end)
           on conflict (fingerprint) do update
              set declines = b.declines + 1,
                  blocked_until = case when $2 or b.declines + 1 >= $3 then 'infinity'
                                       else now() + interval '1 hour' * power(2, b.declines) end
           returning blocked_until as until`,
    values: [fingerprint, hard, suspendAfter],
  });
  const { until } = rows[0]!;
  return until instanceof Date ? until : 'infinity';
}

export async function findBlockedUntil(tx: Tx, fingerprint: string): Promise<Date | 'infinity' | undefined> {
  const { rows } = await tx.query<{ until: Date | number }>({
    name: 'find-blocked-until',
    text: 'select blocked_until as until from card_breakers where fingerprint = $1 and blocked_until > now()',
    values: [fingerprint],
  });
  const until = rows[0]?.until;
  return until === undefined || until instanceof Date ? until : 'infinity';
}

export async function clearBreaker(tx: Tx, fingerprint: string): Promise<void> {
  await tx.query({
    name: 'clear-breaker',
    text: 'delete from card_breakers where fingerprint = $1',
    values: [fingerprint],
  });
}
