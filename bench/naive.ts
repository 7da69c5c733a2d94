/**
 * A lean implementation of `POST /v1/usage` with the same requests and answers: no framework, no ledger, prepared
 * statements and pipelined ones. Each request is one transaction: it finds and locks the account, inserts the records,
 * and updates the balance. With BENCH_ONE_STATEMENT, each request is a single statement.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
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

interface Charge {
  readonly charged: number;
  /** Micros. */
  readonly total: bigint;
  readonly balance: bigint;
}

class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const RECORDS_MAX = 5_000;
const CONNECTIONS = 8;

const rates = { version: 1, ...parseRateCard(BUILT_IN_RATES) };
const db = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: CONNECTIONS, pipeline: true });
await db.query(`
  create table if not exists naive_accounts (
    tenant_id bigint generated always as identity primary key, token_hash bytea not null unique, balance bigint not null default 0);
  create table if not exists naive_records (
    tenant_id bigint not null, id text collate "C" not null, room text, participant text,
    role text not null, tier text not null, seconds integer not null, egress_bytes bigint not null,
    ingress_bytes bigint not null, amount bigint not null, primary key (tenant_id, id))`);

const charge = process.env.BENCH_ONE_STATEMENT ? chargeInOneStatement : chargeInTransaction;

const RECORDS = `json_to_recordset($2) as r (id text, room text, participant text, role text, tier text, seconds integer,
                                            egress_bytes bigint, ingress_bytes bigint, amount bigint)`;

async function chargeInTransaction(token: Buffer, records: string): Promise<Charge> {
  const client = await db.connect();
  try {
    const [, { rows }] = await Promise.all([
      client.query({ name: 'begin', text: 'begin' }),
      client.query<{ tenant: string; balance: string }>({
        name: 'lock-account',
        text: 'select tenant_id as tenant, balance from naive_accounts where token_hash = $1 for no key update',
        values: [token],
      }),
    ]);
    const [account] = rows;
    if (!account) throw new Refusal(401, 'unauthorized');
    const inserted = await client.query<{ amount: string }>({
      name: 'insert-records',
      text: `insert into naive_records select $1, r.* from ${RECORDS} on conflict do nothing returning amount`,
      values: [account.tenant, records],
    });
    const total = inserted.rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    await Promise.all([
      client.query({
        name: 'move-balance',
        text: 'update naive_accounts set balance = balance - $2 where tenant_id = $1',
        values: [account.tenant, total],
      }),
      client.query({ name: 'commit', text: 'commit' }),
    ]);
    return { charged: inserted.rows.length, total, balance: BigInt(account.balance) - total };
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

async function chargeInOneStatement(token: Buffer, records: string): Promise<Charge> {
  const { rows } = await db.query<Record<'charged' | 'total' | 'balance', string>>({
    name: 'charge',
    text: `with account as (
             select tenant_id from naive_accounts where token_hash = $1 for no key update),
           inserted as (
             insert into naive_records select account.tenant_id, r.* from account, ${RECORDS}
             on conflict do nothing returning amount),
           cost as (
             select count(*) as charged, coalesce(sum(amount), 0)::bigint as total from inserted)
           update naive_accounts a set balance = balance - total
             from account, cost where a.tenant_id = account.tenant_id
           returning charged, total, balance`,
    values: [token, records],
  });
  const [row] = rows;
  if (!row) throw new Refusal(401, 'unauthorized');
  return { charged: Number(row.charged), total: BigInt(row.total), balance: BigInt(row.balance) };
}

async function answer(request: IncomingMessage): Promise<object> {
  if (request.method !== 'POST' || request.url !== '/v1/usage') throw new Refusal(404, 'not found');
  const token = hashKey((request.headers.authorization ?? '').slice('Bearer '.length));
  const { records } = JSON.parse(await readText(request)) as { records: UsageRecord[] };
  const isRight = Array.isArray(records) && records.length <= RECORDS_MAX && records.every(isRecord);
  if (!isRight) throw new Refusal(400, 'invalid request');

  const { charged, total, balance } = await charge(token, JSON.stringify(records.map(priced)));
  const { micros, display } = renderAmount(total);
  return {
    charged,
    duplicates: records.length - charged,
    unbilled: 0,
    total: { micros: Number(micros), display },
    admitted: balance > 0n,
  };
}

function readText(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => resolve(text));
    request.on('error', reject);
  });
}

function isRecord({ id, room, participant, role, tier, ...quantities }: UsageRecord): boolean {
  const { seconds, egress_bytes, ingress_bytes } = quantities;
  return (
    typeof id === 'string' &&
    id.length > 0 &&
    id.length <= 200 &&
    (room === undefined || typeof room === 'string') &&
    (participant === undefined || typeof participant === 'string') &&
    ROLES.includes(role) &&
    TIERS.includes(tier) &&
    [seconds, egress_bytes, ingress_bytes].every((each) => Number.isSafeInteger(each) && each >= 0)
  );
}

function priced(record: UsageRecord): object {
  const { role, tier, seconds, egress_bytes } = record;
  const price = priceUsage({ role, tier, seconds, egressBytes: BigInt(egress_bytes) }, rates);
  const { amount } = settlePrice(price.numerator, INITIAL_CARRY, 'per_record');
  return { ...record, amount: String(amount) };
}

const server = createServer(async (request, response) => {
  let status = 200;
  const body = await answer(request).catch((error: unknown) => {
    status = error instanceof Refusal ? error.status : 500;
    return { error: String(error) };
  });
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
});
server.listen({ host: '127.0.0.1', port: 0 }, () => {
  announce((server.address() as AddressInfo).port, async () => {
    server.closeAllConnections();
    server.close();
    await db.end();
  });
});
