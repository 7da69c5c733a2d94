/** What every benchmark stands on: a durable database of its own, and the service as its own process. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbedded } from '../src/db/embedded.ts';

export interface Stand {
  readonly url: string;
  readonly databaseUrl: string;
  readonly db: pg.Pool;
  /** Resident memory of the service in MB. */
  memory(): Promise<number>;
  close(): Promise<void>;
}

/** fsync and synchronous_commit are on, as they are for everybody who starts the service. */
export async function openStand(): Promise<Stand> {
  const dataDir = await mkdtemp(join(tmpdir(), 'boxoffice-bench-'));
  const embedded = await startEmbedded({ dataDir, log: { info: () => {}, warn: () => {} } });
  const db = new pg.Pool({ connectionString: embedded.url, max: 10 });
  const service = spawn(process.execPath, [new URL('./service.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, DATABASE_URL: embedded.url },
  });
  const url = await new Promise<string>((resolve, reject) => {
    service.once('message', (message) => resolve((message as { url: string }).url));
    service.once('exit', (code) => reject(new Error(`the service ended with ${code}`)));
  });
  return {
    url,
    databaseUrl: embedded.url,
    db,
    memory: () =>
      new Promise((resolve) => {
        service.once('message', (message) => resolve((message as { rss: number }).rss / 1024 / 1024));
        service.send('memory');
      }),
    close: async () => {
      const exited = new Promise((resolve) => service.once('exit', resolve));
      service.kill('SIGTERM');
      await exited;
      await db.end();
      await embedded.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A tenant with a relay key, made straight in the database: its key is known to be `key`. */
export async function relayTenant(stand: Stand): Promise<{ key: string; tenant: bigint }> {
  const { newKey } = await import('../src/keys/api-key.ts');
  const { newTenantId } = await import('../src/tenants/tenant.ts');
  const tenant = newTenantId();
  const key = newKey('svc');
  await stand.db.query(
    `with t as (insert into tenants (id, name, email, status) values ($1, 'bench', 'bench@example.com', 'active') returning id),
          a as (insert into accounts (tenant_id) select id from t),
          p as (insert into payment_settings (tenant_id) select id from t)
     insert into api_keys (id, tenant_id, name, kind, hash) select $2, id, 'relay', 'relay', $3 from t`,
    [tenant, key.id, key.hash],
  );
  return { key: key.plaintext, tenant };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
