import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { expect, test, vi } from 'vitest';
import { REMOVALS, sweep } from '../../src/run/sweep.ts';
import { makeWebhook } from '../outward/webhooks/support.ts';
import { useService } from '../support/service.ts';
import { idOf } from '../support/tenants.ts';

const DAYS = { eventDays: 7, mailDays: 30, auditAddressDays: 400 };
const app = useService({ makesUpEvents: true, eventDays: 30, mailDays: 60, auditAddressDays: 10 });

test('a failed removal does not stop the others', async () => {
  const { db } = app.service.deps;
  const warn = vi.fn();
  const texts: string[] = [];
  const failing = {
    query: async (statement: pg.QueryConfig | string, values?: unknown[]) => {
      const text = typeof statement === 'string' ? statement : statement.text;
      texts.push(text);
      if (text.includes(' bans')) throw new Error('too slow');
      return typeof statement === 'string' ? db.query(statement, values) : db.query(statement);
    },
  };
  await sweep({ db: failing as unknown as typeof db, log: { warn } as never, config: DAYS });
  expect(warn.mock.calls).toStrictEqual([[{ err: expect.any(Error) }, 'old bans were not removed']]);
  for (const table of ['participants', 'rooms', 'events', 'idempotency_keys', 'bans', 'rate_limits']) {
    expect(texts.some((text) => text.includes(` ${table}`))).toBe(true);
  }
});

test('events and attempts to deliver them are kept for as many days as the operator says', async () => {
  const { db } = app.service.deps;
  const tenant = await app.signUp();
  const { id } = await makeWebhook(app, tenant, 'https://x.example/');
  // The service itself attempts nothing.
  await app.request('PATCH', `/v1/webhooks/${id}`, { key: tenant.key, body: { paused: true } });
  await db.query(
    `insert into event_streams (tenant_id, last_seq) values ($1, 3) on conflict (tenant_id) do update set last_seq = 3`,
    [idOf(tenant)],
  );
  await db.query(
    `insert into events (tenant_id, seq, type, subject, at)
     select $1, n, 'credit_spent', '{}', now() - days * interval '1 day'
       from unnest('{31,29,8}'::integer[]) with ordinality as t (days, n)`,
    [idOf(tenant)],
  );
  await db.query(
    `insert into webhook_deliveries (tenant_id, webhook_id, kind, event_id, seq, type, attempt, latency_ms, status, at)
     select tenant_id, $2, 'event', 'evt_0', seq, type, 1, 1, 204, at from events where tenant_id = $1`,
    [idOf(tenant), id],
  );
  await sweep(app.service.deps);
  for (const table of ['events', 'webhook_deliveries']) {
    const { rows } = await db.query(`select seq from ${table} where tenant_id = $1 order by seq`, [
      idOf(tenant),
    ]);
    expect(
      rows.map(({ seq }) => Number(seq)),
      table,
    ).toEqual([2, 3]);
  }
});

test('so are mails, and addresses in the audit trail, whose entries stay', async () => {
  const { db } = app.service.deps;
  const tenant = await app.signUp();
  await db.query(
    `insert into mails (id, tenant_id, address, kind, event_seq, event_type, event_at, subject, state, created_at, finished_at)
     select 'mail_' || md5(days::text), $1, 'a@b.example', 'alert', days, 'credit_spent', now(), '{}', 'sent',
            now() - days * interval '1 day', now()
       from unnest('{61,59}'::integer[]) as t (days)`,
    [idOf(tenant)],
  );
  await db.query(
    `insert into audit_entries (id, tenant_id, at, actor_kind, actor_id, address, action)
     select 'au_' || days, $1, now() - days * interval '1 day', 'key', 'k', '203.0.113.7', 'aged'
       from unnest('{11,9}'::integer[]) as t (days)`,
    [idOf(tenant)],
  );
  await sweep(app.service.deps);
  const mails = await db.query(
    `select id = 'mail_' || md5('59') as "isNewer" from mails where tenant_id = $1 and address = 'a@b.example'`,
    [idOf(tenant)],
  );
  expect(mails.rows).toEqual([{ isNewer: true }]);
  const entries = await db.query(
    `select id, address from audit_entries where tenant_id = $1 and id in ('au_9', 'au_11') order by id`,
    [idOf(tenant)],
  );
  expect(entries.rows).toEqual([
    { id: 'au_11', address: '(erased)' },
    { id: 'au_9', address: '203.0.113.7' },
  ]);
});

test('docs/growth.md says of each removal how long what it removes is kept', () => {
  const page = readFileSync(new URL('../../docs/growth.md', import.meta.url), 'utf8');
  const [table = ''] = page.split('## How long it is kept')[1]!.split('\n## ');
  const rows = [...table.matchAll(/^\| ([a-z][a-z -]+?) +\|/gm)].map(([, name]) => name);
  expect(rows).toEqual(Object.keys(REMOVALS));
});
