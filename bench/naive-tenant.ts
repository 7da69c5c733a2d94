/** Tenants of the lean service, `naive.ts`. */
import { randomBytes } from 'node:crypto';
import { hashKey } from '../src/access/keys/api-key.ts';
import type { Stand } from './stand.ts';

/** `key`: the plaintext. */
export interface NaiveTenant {
  readonly tenant: bigint;
  readonly key: string;
}

/** The service must have been started: it creates its tables. */
export async function makeNaiveTenant(stand: Stand): Promise<NaiveTenant> {
  const key = randomBytes(32).toString('base64url');
  const { rows } = await stand.db.query<{ tenant: bigint }>(
    'insert into naive_accounts (token_hash) values ($1) returning tenant_id as tenant',
    [hashKey(key)],
  );
  return { tenant: rows[0]!.tenant, key };
}
