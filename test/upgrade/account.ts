/** A tenant whose service is updated, and what it stored before. */
import type { Pool } from '../../src/base/db/pool.ts';
import { type Account, newBatch, type Sdk } from './load.ts';
import type { Version } from './version.ts';

export const CREDIT_DOLLARS = 2_000_000n;
const FILL_BATCH = 2_000;

export function openClient(sdk: Sdk, { url, controlUrl }: Version, tenant: string, apiKey: string) {
  return new sdk({ url, controlUrl, apiKey, tenant });
}

/** A tenant with credit, a room, a webhook and a key of a relay. Without a payment provider it is made active by hand. */
export async function openAccount(
  sdk: Sdk,
  version: Version,
  db: Pool,
  receiverUrl: string,
): Promise<Account> {
  const response = await fetch(`${version.url}/v1/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.com', name: 'Ada Video' }),
  });
  const { tenant, api_key: key } = (await response.json()) as {
    readonly tenant: string;
    readonly api_key: string;
  };
  const amount = String(CREDIT_DOLLARS);
  await version.admin('credit', 'adjust', tenant, amount, '--confirm', amount, '--reason', 'for an upgrade');
  await db.query(`
    with changed as (update tenants set status = 'active' returning id)
    insert into tenant_status_changes (tenant_id, old_status, new_status, reason)
    select id, 'pending', 'active', 'for an upgrade' from changed`);
  const client = openClient(sdk, version, tenant, key);
  await client.webhooks.create({ url: receiverUrl });
  await client.rooms.create({ room: 'stage' });
  const { apiKey: relayKey } = await client.keys.create({ name: 'relay', kind: 'relay' });
  client.close();
  return { tenant, key, relayKey };
}

/** Returns what it cost, in micros. */
export async function fill(client: InstanceType<Sdk>, records: number): Promise<bigint> {
  let micros = 0n;
  for (let turn = 0; turn * FILL_BATCH < records; turn += 1) {
    const batch = newBatch('fill', turn, Math.min(FILL_BATCH, records - turn * FILL_BATCH));
    micros += BigInt((await client.usage.report(batch)).total.micros);
  }
  client.close();
  return micros;
}
