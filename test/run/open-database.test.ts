/** The service as a role that owns nothing. */

import { Writable } from 'node:stream';
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { Watchdog_Action } from '@boxoffice/contract/watchdog';
import { WatchdogService } from '@boxoffice/contract/watchdog_service';
import pino from 'pino';
import { describe, expect, inject, test } from 'vitest';
import { migrate } from '../../src/base/db/migrate.ts';
import { openPool, type Pool } from '../../src/base/db/pool.ts';
import { StartError } from '../../src/base/lib/start-error.ts';
import { tellExpiredParticipants } from '../../src/control/rooms/tell-expired-participants.ts';
import { closePools, openDatabase } from '../../src/run/open-database.ts';
import { sweep } from '../../src/run/sweep.ts';
import { mint, newStage } from '../control/moderation/support.ts';
import { lapse } from '../doors/grpc/mint.ts';
import { expectOk } from '../doors/rest/support.ts';
import { moved } from '../support/append-only.ts';
import { bareConfig } from '../support/bare-config.ts';
import { checkLedger } from '../support/check-ledger.ts';
import { useDatabase } from '../support/database.ts';
import { createCredential, deviceKey, expectJoined, join } from '../support/devices.ts';
import { useControl } from '../support/grpc.ts';
import { type TestService, usageRecord, useService } from '../support/service.ts';
import { tableRightsOf } from '../support/table-rights.ts';

async function asOwner<T>(
  { ownerUrl }: Pick<TestService, 'ownerUrl'>,
  work: (db: Pool) => Promise<T>,
): Promise<T> {
  const owner = openPool(ownerUrl, { max: 1 });
  return work(owner).finally(() => owner.end());
}

/** Source: PostgreSQL, appendix A "Error Codes". */
const REFUSED = { code: '42501' };

const OWNER = new URL(inject('adminUrl')).username;
const ROLE = URL.parse(inject('applicationUrl'))?.username;
/** Distributed tables have no triggers. */
const HAS_TRIGGERS = inject('citusServers').length === 0;

// The server of TEST_DATABASE_URL has no such role.
describe.skipIf(inject('applicationUrl') === '')('a role that owns nothing', () => {
  describe('can run the whole service', () => {
    const complaints: string[] = [];
    const log = pino(
      { level: 'warn' },
      new Writable({
        write: (line, _, done) => {
          complaints.push(String(line));
          done();
        },
      }),
    );
    const app = useService({ isRestricted: true, log });
    const controlOf = useControl(app);

    /** Tokens of rooms that have ended are void, so nothing keeps the name. */
    async function eraseBob({ key }: { key: string }): Promise<void> {
      const body = { participant: 'bob' };
      const { erasure } = expectOk(await app.request('POST', '/v1/participants/erase', { key, body }), 202);
      const look = async () =>
        expectOk(await app.request('GET', `/v1/erasures/${erasure.id}`, { key })).erasure;
      await expect.poll(look).toMatchObject({ state: 'done', records: 1 });
    }

    test('without a complaint', async () => {
      const { rows } = await app.service.deps.db.query(
        `select current_user::text = pg_get_userbyid(relowner)::text as owns from pg_class where relname = 'postings'`,
      );
      expect(rows).toEqual([{ owns: false }]);

      const stage = await newStage(app, controlOf);
      const { tenant, control } = stage;
      const report = async (records: unknown[]) =>
        expectOk(await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } }));
      const large = Array.from({ length: 2_000 }, () => usageRecord());
      expect(await report([usageRecord({ participant: 'bob' })])).toMatchObject({ charged: 1 });
      expect(await report(large)).toMatchObject({ charged: 2_000 });
      // A known id with other values, which is kept as a conflict.
      expect(await report([...large.slice(0, 9), { ...large[9], seconds: 61 }])).toMatchObject({
        duplicates: 10,
      });

      expectOk(await app.request('POST', `/v1/keys/${tenant.relayKeyId}/rotate`, { key: tenant.key }), 201);
      expectOk(await app.request('DELETE', `/v1/keys/${tenant.relayKeyId}`, { key: tenant.key }), 204);
      const { credential } = await createCredential(app, tenant);
      for (const key of [deviceKey(), deviceKey()]) {
        expectJoined(await join(app, credential, { room: 'lobby', key }));
      }
      await mint(stage, 'bob');
      await control.call(WatchdogService.method.createWatchdog, {
        watchdog: {
          room: 'lobby',
          condition: { case: 'maxDuration', value: { seconds: 60n } },
          action: Watchdog_Action.NOTIFY,
        },
      });
      await control.call(ModerationService.method.kickParticipant, {
        room: 'lobby',
        username: 'bob',
        idempotencyKey: 'once',
      });
      await control.call(ModerationService.method.banSubject, {
        subject: { case: 'cidr', value: '192.0.2.0/24' },
      });
      await lapse(app, tenant);
      await tellExpiredParticipants(app.service.deps);
      await control.call(RoomService.method.endRoom, { room: 'lobby' });
      await eraseBob(tenant);
      const { events } = await control.call(RoomService.method.listEvents, {});
      expect(events.length).toBeGreaterThan(5);
      await asOwner(app, (owner) => owner.query(`update events set at = ${moved('at', '-30 days')}`));
      await sweep(app.service.deps);
      expect((await app.service.deps.db.query('select 1 from events')).rowCount).toBe(0);
      expect(await checkLedger(app.service.deps.db)).toEqual([]);
      expect(complaints).toEqual([]);
    });
  });

  describe('is refused by PostgreSQL', () => {
    const app = useService({ isRestricted: true });

    test.each([
      'update postings set amount = 0 where false',
      'delete from postings where false',
      'truncate postings',
      'drop table postings cascade',
      'alter table postings drop constraint postings_chain',
      'create trigger mine before insert on postings execute function refuse_change()',
      'update usage_records set amount = 0 where false',
      'delete from usage_records where false',
      'truncate usage_records',
      'drop table usage_records',
      'delete from record_chunks where false',
      'truncate record_chunks',
      'update known_id_runs set entries = 0 where false',
      'update known_id_pages set page = null where false',
      ...(HAS_TRIGGERS
        ? ['alter table postings disable trigger append_only', 'drop trigger append_only on postings']
        : []),
      'update rate_cards set version = 2 where false',
      'delete from rate_cards where false',
      'update usage_records set room = null where false',
      'update moderation_events set action = null where false',
      'delete from moderation_events where false',
      'update audit_entries set action = null where false',
      'delete from audit_entries where false',
      'update tenant_status_changes set reason = null where false',
      'delete from tenant_status_changes where false',
      'update events set type = null where false',
      'truncate events',
      'delete from tenants where false',
      'delete from accounts where false',
      'delete from payments where false',
      'truncate payments',
      'update migrations set checksum = null where false',
      'delete from migrations where false',
      'create or replace function refuse_change() returns trigger language plpgsql as $$ begin return new; end $$',
      'create table mine ()',
      'set session_replication_role = replica',
      `select grant_application_rights('public')`,
      `set role ${OWNER}`,
    ])('%s', async (statement) => {
      await expect(app.service.deps.db.query(statement)).rejects.toMatchObject(REFUSED);
    });

    // Usage records may be deleted once they are archived: `test/money/records/archive-records.test.ts`.
    test.skipIf(!HAS_TRIGGERS).each([
      ['postings', 'delete from postings'],
      ['usage_records', 'truncate usage_records'],
      ['record_chunks', 'delete from record_chunks'],
      ['moderation_events', 'delete from moderation_events'],
      ['audit_entries', 'delete from audit_entries'],
    ])('which also keeps its owner from changing %s', async (table, change) => {
      const changing = asOwner(app, (owner) => owner.query(change));
      await expect(changing).rejects.toMatchObject({ message: `${table} is append-only` });
    });
  });

  describe('gets its rights', () => {
    const database = useDatabase({ empty: true });
    const open = (migrationsDatabaseUrl?: string) =>
      openDatabase({ ...bareConfig(database.applicationUrl), migrationsDatabaseUrl });
    /** The columns that it may update in tables that it may not update as a whole. */
    const updatable = async () => {
      const { rows } = await database.pool.query(
        `select c.relname || '.' || a.attname as name
           from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
          where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
            and has_column_privilege($1, c.oid, a.attnum, 'UPDATE') and not has_table_privilege($1, c.oid, 'UPDATE')
          order by 1`,
        [new URL(database.applicationUrl).username],
      );
      return rows.map(({ name }) => name);
    };
    const rights = () => tableRightsOf(database.pool, new URL(database.applicationUrl).username);

    test('with the migrations, on every table, and again on a table that is new', async () => {
      // Without the owner, an empty database stays empty.
      await expect(open()).rejects.toThrow(StartError);
      await expect(open()).rejects.toThrow(/role of DATABASE_URL may not: set MIGRATIONS_DATABASE_URL/);

      await closePools(await open(database.url));
      const granted = await rights();
      const { rows } = await database.pool.query(
        `select relname as name from pg_class
          where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
      );
      expect(Object.keys(granted).sort()).toEqual(rows.map(({ name }) => name).sort());
      expect(granted).toMatchObject({
        migrations: 'SELECT',
        postings: 'INSERT SELECT',
        usage_records: 'INSERT SELECT',
        events: 'DELETE INSERT SELECT',
        payments: 'INSERT SELECT UPDATE',
        participants: 'DELETE INSERT SELECT UPDATE',
      });
      const named = [
        'audit_entries.address',
        'events.subject',
        'moderation_events.actor',
        'moderation_events.reason',
        'moderation_events.value',
        'usage_records.participant',
      ];
      expect(await updatable()).toEqual(named);

      await database.pool.query(`create table later (); grant delete on usage_records to ${ROLE}`);
      await closePools(await open(database.url));
      expect(await rights()).toEqual({ ...granted, later: 'DELETE INSERT SELECT UPDATE' });
      expect(await updatable()).toEqual(named);

      // On a database that is up to date, the owner is not needed.
      const pools = await open();
      await pools.db.query('select 1 from later').finally(() => closePools(pools));
    });

    test('as the owner, as before', async () => {
      const pools = await openDatabase(bareConfig(database.url));
      expect(await migrate(pools.db)).toBe(0);
      await closePools(pools);
      const again = await openDatabase({ ...bareConfig(database.url), migrationsDatabaseUrl: database.url });
      await again.db.query('create table mine ()').finally(() => closePools(again));
    });

    test('unless it has more than those', async () => {
      const owner = openPool(database.url, { max: 1 });
      await migrate(owner);
      await expect(owner.query('select grant_application_rights(current_user)')).rejects.toThrow(
        /is the owner, a member of it, or a superuser/,
      );
      await owner.query('grant update on postings to public');
      const role = new URL(database.applicationUrl).username;
      await expect(owner.query('select grant_application_rights($1)', [role])).rejects.toThrow(
        `role ${role} has rights on postings by another role`,
      );
      await owner.end();
    });
  });
});

test('an address that cannot be opened is named', async () => {
  const nowhere = 'postgres://nobody@127.0.0.1:1/none';
  await expect(openDatabase(bareConfig(nowhere))).rejects.toThrow(
    /^the database of DATABASE_URL cannot be opened: /,
  );
  const config = { ...bareConfig(inject('adminUrl')), migrationsDatabaseUrl: nowhere };
  await expect(openDatabase(config)).rejects.toThrow(
    /^the database of MIGRATIONS_DATABASE_URL cannot be opened: /,
  );
});
