/** Waits until everything that is under way has come to its end. What has not within the time is a problem. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TenantId } from '../src/base/tenants/tenant.ts';
import { unfreezeTopUps } from '../src/money/top-ups/unfreeze-top-ups.ts';
import { OPERATOR } from '../test/support/tenants.ts';
import { OUTSIDE } from './journal.ts';
import { send } from './load/http.ts';
import type { Tenant } from './load/tenant.ts';
import { movedBy } from './stage/provider.ts';
import type { Stage } from './stage/stage.ts';

const LOOK_EVERY_MS = 500;
/** Tenants and an operator end waits so often: of webhooks that have put something off for hours, and of top-ups that wait for ten minutes. */
const HURRY_EVERY_MS = 10_000;

/** Each counts what is not at its end. */
const UNSETTLED: Readonly<Record<string, string>> = {
  'events without a number': 'select count(*)::int as count from unnumbered_events',
  'events that a listener has not read': 'select count(*)::int as count from event_turns',
  'top-ups that are open': `select count(*)::int as count from top_up_attempts where state in ('pending', 'unknown')`,
  'erasures that are not done': `select count(*)::int as count from erasures where state = 'pending'`,
  'webhooks that are paused':
    'select count(*)::int as count from webhook_cursors where paused_by is not null',
  'webhooks that are behind': `select count(*)::int as count from webhook_cursors c
    where exists (select from events e where e.tenant_id = c.tenant_id and e.seq > c.seq)`,
  'events that webhooks have put aside': 'select count(*)::int as count from webhook_waiting',
  'grants that will end': 'select count(*)::int as count from grants where due_at is not null',
  'sums of usage that are not added': 'select count(*)::int as count from usage_deltas',
};

interface SettleOptions {
  /** So long it may take. */
  readonly seconds: number;
  readonly progress: (left: readonly string[]) => void;
}

export interface Settled {
  /** A line for each thing that has not come to its end. */
  readonly unsettled: readonly string[];
  /** What has happened until then has come to its end but for those. By the clock of PostgreSQL. */
  readonly at: Date;
}

/** `begunAt`: of the campaign. */
export async function settle(
  stage: Stage,
  tenants: readonly Tenant[],
  begunAt: Date,
  { seconds, progress }: SettleOptions,
): Promise<Settled> {
  const begun = performance.now();
  let hurriedAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    const at = await readClock(stage);
    const { left } = await stage.journal.record(OUTSIDE, 'settle.look', {}, async () => ({
      ...{ outcome: 'ok' as const, status: 0 },
      left: await findUnsettled(stage),
    }));
    progress(left);
    if (left.length === 0) return { unsettled: [], at };
    const now = performance.now();
    if (now - begun > seconds * 1_000)
      return { unsettled: left.map((each) => `after ${seconds} s: ${each}`), at };
    if (now - hurriedAt > HURRY_EVERY_MS) {
      await stage.journal.record(OUTSIDE, 'settle.hurry', {}, async () => {
        await Promise.all(tenants.map((tenant) => hurryWebhooks(stage, tenant, begunAt)));
        await hurryTopUps(stage);
        return { outcome: 'ok', status: 0 } as const;
      });
      hurriedAt = performance.now();
    }
    await sleep(LOOK_EVERY_MS);
  }
}

/** Asks PostgreSQL for its time, or this machine where it does not answer. */
async function readClock({ db }: Stage): Promise<Date> {
  try {
    return (await db.query<{ now: Date }>('select clock_timestamp() as now')).rows[0]!.now;
  } catch {
    return new Date();
  }
}

async function findUnsettled(stage: Stage): Promise<string[]> {
  const left: string[] = [];
  try {
    for (const [what, text] of Object.entries(UNSETTLED)) {
      const { rows } = await stage.db.query<{ count: number }>(text);
      if (rows[0]!.count > 0) left.push(`${rows[0]!.count} ${what}`);
    }
    const missing = await countUncredited(stage);
    if (missing > 0) left.push(`${missing} payments, refunds or disputes that are not in the ledger`);
  } catch (error) {
    left.push(`the database does not answer: ${(error as Error).message}`);
  }
  return left;
}

/** Those of the provider's book that the database does not know, or knows otherwise. */
async function countUncredited({ db, provider }: Stage): Promise<number> {
  const { payments, refunds, disputes } = await provider.readBook();
  const { rows } = await db.query<{ fact: string }>(
    `select id as fact from payments
     union all select id || ' ' || status from refunds
     union all select id || ' ' || (reinstated - withdrawn) / 10000 from disputes`,
  );
  const known = new Set(rows.map(({ fact }) => fact));
  const facts = [
    ...payments.map(({ id }) => id),
    ...refunds.map(({ id, status }) => `${id} ${status}`),
    ...disputes.map((dispute) => `${dispute.id} ${movedBy(dispute)}`),
  ];
  return facts.filter((fact) => !known.has(fact)).length;
}

/** As a tenant does whose receiver is back. */
async function hurryWebhooks(
  stage: Stage,
  { key: { plaintext: key } }: Tenant,
  begunAt: Date,
): Promise<void> {
  const { url } = stage.service(0);
  const { json } = await send(url, { method: 'GET', path: '/v1/webhooks', key });
  for (const { id, state, failures } of json?.webhooks ?? []) {
    const path = `/v1/webhooks/${id}`;
    if (state === 'paused' || failures > 0) {
      await send(url, { method: 'PATCH', path, key, body: { paused: true } });
      await send(url, { method: 'PATCH', path, key, body: { paused: false } });
    }
    const body = { since: begunAt.toISOString(), only_failed: true };
    await send(url, { method: 'POST', path: `${path}/resend`, key, body });
  }
}

/** As an operator does: those to which the provider repeats an error are sent with another key at once. What fails is tried next time. */
async function hurryTopUps({ db }: Stage): Promise<void> {
  try {
    const { rows } = await db.query<{ tenant: TenantId }>(
      `select tenant_id as tenant from top_up_attempts where state = 'unknown' and new_key_at > now()`,
    );
    for (const { tenant } of rows) await unfreezeTopUps(db, OPERATOR, tenant);
  } catch {
    // An attempt that stays open is told as such in the end.
  }
}
