/** The files of `deploy/ha`, started on this machine: what fails under load, loses nothing, archived usage records included. */
import pg from 'pg';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from 'vitest';
import { openPool } from '../../src/base/db/pool.ts';
import { newTenantId } from '../../src/base/tenants/tenant.ts';
import { EventWaker } from '../../src/events/event-waker.ts';
import { usageRecord } from '../support/service.ts';
import { makeKey } from '../support/tenants.ts';
import { FAULTS } from './faults.ts';
import { findMissingProgram } from './ha-cluster.ts';
import { post } from './post.ts';
import { HaStage, newTenant } from './stage.ts';

const missing = findMissingProgram();

/** The limit on a busy machine. `npm run bench -- failover` measures a calm one. */
const RESUMED_WITHIN_MS = 30_000;

describe.skipIf(missing !== undefined)(
  'two services on a primary and its standby',
  { timeout: 400_000 },
  () => {
    let stage: HaStage;
    beforeAll(async () => {
      stage = await HaStage.open();
    }, 600_000);
    afterAll(() => stage?.close());

    test.each(Object.values(FAULTS).filter((fault) => fault !== FAULTS.pausePatroni))(
      'go on when $name',
      async (fault) => {
        onTestFailed(() => console.error(stage.cluster.logs()));
        expect(await stage.suffer(fault)).toBeLessThan(RESUMED_WITHIN_MS);
        await stage.checkTokens();
      },
    );

    test('go on when Patroni of the primary hangs, which acknowledges nothing any more', async () => {
      onTestFailed(() => console.error(stage.cluster.logs()));
      const before = await stage.cluster.becomesPrimary();
      const writeBeside = async () => {
        const client = new pg.Client({ connectionString: before.url, query_timeout: 2_000 });
        client.on('error', () => {});
        await client.connect();
        const { rows } = await client.query('select pg_is_in_recovery() as "isStandby"');
        expect(rows).toEqual([{ isStandby: false }]);
        await expect(client.query('create table beside ()')).rejects.toThrow('Query read timeout');
        void client.end();
      };
      expect(await stage.suffer(FAULTS.pausePatroni, writeBeside)).toBeLessThan(RESUMED_WITHIN_MS);
      await stage.checkTokens();
    });

    test('charge large batches through the pooler, each record once', async () => {
      const key = await makeKey(stage.db, await newTenant(stage.db), 'relay');
      const records = Array.from({ length: 4_000 }, () => usageRecord());
      const report = (some: readonly unknown[]) =>
        post(`${stage.pooledUrl}/v1/usage`, key.plaintext, { records: some });
      expect(await report(records.slice(0, 3_000))).toMatchObject({ charged: 3_000, duplicates: 0 });
      expect(await report(records.slice(0, 3_000))).toMatchObject({ charged: 0, duplicates: 3_000 });
      // COPY fails at the first known id.
      expect(await report(records.slice(2_000))).toMatchObject({ charged: 1_000, duplicates: 1_000 });
    });

    test('listen beside the pooler', async () => {
      const { poolerUrl, url } = stage.cluster;
      const pool = openPool(poolerUrl, { max: 1, directUrl: url, applicationName: 'listens' });
      const waker = new EventWaker(pool, pino({ level: 'silent' }));
      const waiting = waker.wait(newTenantId(), 0n, new AbortController().signal, 60_000);
      const listeners = async () => {
        const { rows } = await pool.query(
          `select 1 from pg_stat_activity where application_name = 'listens' and query = 'listen boxoffice_events'`,
        );
        return rows.length;
      };
      await expect.poll(listeners).toBe(1);
      await waker.close();
      await waiting;
      await pool.end();
    });

    test('lose and double nothing', async () => {
      await stage.cluster.isSynchronous();
      const { records, archived, problems } = await stage.settle();
      expect(problems).toEqual([]);
      expect(records).toBeGreaterThan(500);
      expect(archived).toBeGreaterThan(records / 2);
      const { rows } = await stage.db.query(`select to_regclass('beside') as written`);
      expect(rows).toEqual([{ written: null }]);
    });
  },
);
