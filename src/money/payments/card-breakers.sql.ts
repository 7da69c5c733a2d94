/** SQL of `card_breakers`: cards that were declined, and until when they are not charged. */
import type { Tx } from '../../base/db/pool.ts';

/**
 * Count one more decline of a card and say until when it is left alone: 1, 2, 4 hours, and after the
 * `suspendAfter`-th, or at once when `hard`, for good.
 */
export async function tripBreaker(
  tx: Tx,
  fingerprint: string,
  { hard, suspendAfter }: { hard: boolean; suspendAfter: number },
): Promise<Date | 'infinity'> {
  const { rows } = await tx.query<{ until: Date | number }>(
    `insert into card_breakers as b (fingerprint, declines, blocked_until)
     values ($1, 1, case when $2 then 'infinity' else now() + interval '1 hour' end)
     on conflict (fingerprint) do update
        set declines = b.declines + 1,
            blocked_until = case when $2 or b.declines + 1 >= $3 then 'infinity'
                                 else now() + interval '1 hour' * power(2, b.declines) end
     returning blocked_until as until`,
    [fingerprint, hard, suspendAfter],
  );
  const { until } = rows[0]!;
  return until instanceof Date ? until : 'infinity';
}

export async function findBlockedUntil(tx: Tx, fingerprint: string): Promise<Date | 'infinity' | undefined> {
  const { rows } = await tx.query<{ until: Date | number }>(
    'select blocked_until as until from card_breakers where fingerprint = $1 and blocked_until > now()',
    [fingerprint],
  );
  const until = rows[0]?.until;
  return until === undefined || until instanceof Date ? until : 'infinity';
}

export async function clearBreaker(tx: Tx, fingerprint: string): Promise<void> {
  await tx.query('delete from card_breakers where fingerprint = $1', [fingerprint]);
}
