/**
 * A simple implementation of `POST /v1/usage` with the same requests and answers: each
 * record is one INSERT and one UPDATE of the balance, and each request is one transaction.
 */
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import pg from 'pg';
import { hashKey } from '../src/access/keys/api-key.ts';
import { renderAmount } from '../src/money/amount.ts';
import { INITIAL_CARRY, settlePrice } from '../src/money/pricing/carry.ts';
import { BUILT_IN_RATES, parseRateCard } from '../src/money/pricing/rate-card.ts';
import { ROLES, type Role, TIERS, type Tier } from '../src/money/pricing/role.ts';
import { priceUsage } from '../src/money/pricing/usage-price.ts';
import { announce } from './process.ts';

interface UsageRecord {
  readonly id: string;
  readonly room?: string;
  readonly participant?: string;
  readonly role: Role;
  readonly tier: Tier;
  readonly seconds: number;
  readonly egress_bytes: number;
  readonly ingress_bytes: number;
}

const quantity = { type: 'integer', minimum: 0 };
const bodySchema = {
  type: 'object',
  required: ['records'],
  properties: {
    records: {
      type: 'array',
      maxItems: 5_000,
      items: {
        type: 'object',
        required: ['id', 'role', 'tier', 'seconds', 'egress_bytes', 'ingress_bytes'],
        properties: {
          id: { type: 'string', minLength: 1, maxLength: 200 },
          room: { type: 'string' },
          participant: { type: 'string' },
          role: { enum: ROLES },
          tier: { enum: TIERS },
          seconds: quantity,
          egress_bytes: quantity,
          ingress_bytes: quantity,
        },
      },
    },
  },
};

const rates = { version: 1, ...parseRateCard(BUILT_IN_RATES) };
const db = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
await db.query(`
  create table if not exists naive_accounts (
    tenant_id bigint generated always as identity primary key, token_hash bytea not null unique, balance bigint not null default 0);
  create table if not exists naive_records (
    tenant_id bigint not null references naive_accounts, id text not null, room text, participant text,
    role text not null, tier text not null, seconds integer not null, egress_bytes bigint not null,
    ingress_bytes bigint not null, amount bigint not null, primary key (tenant_id, id))`);

const app = Fastify();

app.post<{ Body: { records: UsageRecord[] } }>(
  '/v1/usage',
  { schema: { body: bodySchema } },
  async (request, reply) => {
    const tenant = await findTenant(request.headers.authorization ?? '');
    if (tenant === undefined) return reply.code(401).send({ error: 'unauthorized' });
    return inTransaction((client) => chargeRecords(client, tenant, request.body.records));
  },
);

async function findTenant(authorization: string): Promise<string | undefined> {
  const { rows } = await db.query<{ tenant: string }>({
    name: 'find-tenant',
    text: 'select tenant_id as tenant from naive_accounts where token_hash = $1',
    values: [hashKey(authorization.replace('Bearer ', ''))],
  });
  return rows[0]?.tenant;
}

async function inTransaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await db.connect();
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

async function chargeRecords(client: pg.PoolClient, tenant: string, records: readonly UsageRecord[]) {
  // Lock the account first: requests that share records would deadlock otherwise.
  const { rows } = await client.query<{ balance: string }>({
    name: 'lock-account',
    text: 'select balance from naive_accounts where tenant_id = $1 for update',
    values: [tenant],
  });
  let charged = 0;
  let total = 0n;
  for (const record of records) {
    const amount = priceOf(record);
    if (!(await insertRecord(client, tenant, record, amount))) continue;
    await client.query({
      name: 'charge',
      text: 'update naive_accounts set balance = balance - $2 where tenant_id = $1',
      values: [tenant, amount],
    });
    charged += 1;
    total += amount;
  }
  const { micros, display } = renderAmount(total);
  return {
    charged,
    duplicates: records.length - charged,
    unbilled: 0,
    total: { micros: Number(micros), display },
    admitted: BigInt(rows[0]!.balance) - total > 0n,
  };
}

function priceOf({ role, tier, seconds, egress_bytes }: UsageRecord): bigint {
  const price = priceUsage({ role, tier, seconds, egressBytes: BigInt(egress_bytes) }, rates);
  return settlePrice(price.numerator, INITIAL_CARRY, 'per_record').amount;
}

/** Returns whether the record is new. */
async function insertRecord(
  client: pg.PoolClient,
  tenant: string,
  record: UsageRecord,
  amount: bigint,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'insert-record',
    text: `insert into naive_records (tenant_id, id, room, participant, role, tier, seconds, egress_bytes,
                                      ingress_bytes, amount)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`,
    values: [
      tenant,
      record.id,
      record.room,
      record.participant,
      record.role,
      record.tier,
      record.seconds,
      record.egress_bytes,
      record.ingress_bytes,
      amount,
    ],
  });
  return rowCount === 1;
}

await app.listen({ host: '127.0.0.1', port: 0 });
announce((app.server.address() as AddressInfo).port, async () => {
  await app.close();
  await db.end();
});
