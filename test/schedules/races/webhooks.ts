/** Leases of webhooks: one process at a time delivers, and one that lost its lease changes nothing. */
import type { Pool } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { appendNumberedEvents } from '../../../src/events/append-events.sql.ts';
import type { ClaimedWebhook } from '../../../src/outward/webhooks/claimed-webhook.ts';
import { WEBHOOK_DEFAULTS } from '../../../src/outward/webhooks/webhook.ts';
import {
  claimWebhook,
  failDelivery,
  finishDelivery,
  insertCursor,
  releaseWebhook,
  resumeWebhook,
} from '../../../src/outward/webhooks/webhook-cursors.sql.ts';
import { insertWebhook, lockWebhook, updateWebhook } from '../../../src/outward/webhooks/webhooks.sql.ts';
import { makeTenant } from '../../support/tenants.ts';
import { type Part, staged } from '../support/scenario.ts';

interface World {
  readonly tenant: TenantId;
  /** The webhook. */
  readonly id: string;
  /** The worker whose lease lasts. */
  holder: string | undefined;
  /** Events that were delivered and noted. */
  readonly noted: Set<bigint>;
  readonly faults: string[];
}

const EVENTS = 3n;
const ID = `wh_${'0'.repeat(32)}`;
const SETTINGS = { ...WEBHOOK_DEFAULTS, url: 'https://old.example/' };
const DELIVERY = {
  kind: 'event',
  type: 'credit_spent',
  attempt: 1,
  signedAt: null,
  skipped: 0n,
  latencyMs: 1,
  status: 204,
  error: null,
  answer: '',
  format: 'boxoffice',
  batchId: null,
} as const;

async function prepare(db: Pool): Promise<World> {
  const tenant = await makeTenant(db, { status: 'active' });
  await inTransaction(db, async (tx) => {
    await insertWebhook(tx, tenant, { id: ID, ...SETTINGS });
    await insertCursor(tx, { tenant, id: ID }, 0n);
    const event = { type: 'credit_spent', roomUid: null, subject: {} };
    await appendNumberedEvents(tx, tenant, Array(Number(EVENTS)).fill(event));
  });
  return { tenant, id: ID, holder: undefined, noted: new Set(), faults: [] };
}

async function claim(world: World, db: Pool, worker: string): Promise<ClaimedWebhook | undefined> {
  const claimed = { lease: worker, leaseSeconds: 60, holder: worker, gone: [] };
  const webhook = await claimWebhook(db, world, claimed);
  if (webhook && world.holder !== undefined) world.faults.push(`${worker} has the lease of ${world.holder}`);
  if (webhook) world.holder = worker;
  return webhook;
}

/** Delivers what is left, as the turn of a worker does. */
async function deliver(world: World, db: Pool, worker: string): Promise<void> {
  const webhook = await claim(world, db, worker);
  if (!webhook) return;
  for (let from = webhook.seq, goesOn = true; goesOn && from < EVENTS; from += 1n) {
    const to = from + 1n;
    // The request is sent here.
    if (world.noted.has(to)) world.faults.push(`${worker} sends event ${to} again`);
    const move = { from, to, skipped: 0n, leaseSeconds: 60, standing: 0 };
    goesOn = await finishDelivery(db, webhook, move, [{ ...DELIVERY, seq: to, eventId: `evt_${to}` }]);
    if (goesOn) world.noted.add(to);
  }
  await releaseWebhook(db, webhook);
  if (world.holder === worker) world.holder = undefined;
}

/** The worker that has the lease is stopped for longer than it lasts. */
async function expire(world: World, db: Pool): Promise<void> {
  await db.query(
    `update webhook_cursors set leased_until = now() - interval '1 second' where tenant_id = $1 and lease is not null`,
    [world.tenant],
  );
  world.holder = undefined;
}

/** A request fails for the last time. Returns the version of the settings that it was sent with. */
async function failForGood(world: World, db: Pool): Promise<number> {
  const webhook = (await claim(world, db, 'a'))!;
  const failing = { seq: webhook.seq, waitSeconds: undefined, pausedBy: 'failing', standing: 0 } as const;
  const delivery = { ...DELIVERY, status: 500, seq: 1n, eventId: 'evt_1' };
  await inTransaction(db, (tx) => failDelivery(tx, webhook, failing, [delivery]));
  return webhook.version;
}

/** The tenant gives another address, where the webhook goes on. */
function giveOtherAddress({ tenant, id }: World, db: Pool): Promise<void> {
  return inTransaction(db, async (tx) => {
    await lockWebhook(tx, tenant, id);
    await updateWebhook(tx, tenant, id, { ...SETTINGS, url: 'https://new.example/' });
    await resumeWebhook(tx, { tenant, id });
  });
}

const WORKERS = ['a', 'b', 'c'].map((worker) => (world: World, db: Pool) => deliver(world, db, worker));

const checkFaults = async (_db: Pool, { faults }: World) => faults[0];

const workers = staged<World>({
  name: 'two workers, and one more',
  prepare,
  actors: WORKERS,
  check: checkFaults,
});

const stopped = staged<World>({
  name: 'a worker that is stopped for longer than its lease lasts',
  prepare,
  actors: [...WORKERS, expire],
  check: checkFaults,
});

const otherAddress = staged<World>({
  name: 'another address while a request fails',
  prepare,
  actors: [failForGood, giveOtherAddress],
  check: async (db, { tenant, id }, [version]) => {
    const { rows } = await db.query<{ version: number; isPaused: boolean }>(
      `select version, paused_by is not null as "isPaused" from webhook_endpoints w
         join webhook_cursors c on c.tenant_id = w.tenant_id and c.webhook_id = w.id
        where w.tenant_id = $1 and w.id = $2`,
      [tenant, id],
    );
    const isOther = rows[0]!.version !== version;
    return isOther && rows[0]!.isPaused ? 'the new address is paused for the old one' : undefined;
  },
});

export const WEBHOOKS: Part = {
  part: 'webhooks',
  scenarios: [workers, stopped, otherAddress],
  races: [
    {
      name: 'two workers have the lease',
      scenario: workers,
      rewrite: {
        statement: 'claim-webhook',
        from: 'and (c.leased_until is null or c.leased_until <= now() or c.leased_by = any($6))',
        to: '',
      },
    },
    {
      name: 'a worker without its lease moves the place',
      scenario: stopped,
      rewrite: {
        statement: 'finish-webhook-delivery',
        from: 'and c.lease = $3 and c.seq = $4',
        to: 'and $3::text is not null and $4::bigint is not null',
      },
    },
    {
      name: 'a worker gives back the lease of another one',
      scenario: stopped,
      rewrite: { statement: 'release-webhook', from: 'and c.lease = $3', to: 'and $3::text is not null' },
    },
    {
      name: 'a request to an old address pauses the new one',
      scenario: otherAddress,
      rewrite: {
        statement: 'fail-webhook-delivery',
        from: 'and w.version = $5',
        to: 'and $5::integer is not null',
      },
    },
    {
      name: 'a failure is noted by settings of before its wait',
      scenario: otherAddress,
      rewrite: { statement: 'lock-webhook-cursor', from: 'for update', to: '' },
      wasReal: true,
    },
  ],
};
