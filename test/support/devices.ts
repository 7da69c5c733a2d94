/** Devices that join, and common checks of the join door's answers. */
import { generateKeyPairSync } from 'node:crypto';
import { calculateJwkThumbprint, createLocalJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { expect } from 'vitest';
import { adjustCredit } from '../../src/money/ledger/adjust-credit.ts';
import { type Answer, ask, type RequestOptions, type TestService, type TestTenant } from './service.ts';
import { idOf, OPERATOR } from './tenants.ts';

/** The public half of a new key. */
export function deviceKey() {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  return { kty: 'EC', crv: 'P-256', x: x!, y: y! } as const;
}

export interface TestCredential {
  readonly id: string;
  readonly credential: string;
}

export async function createCredential(
  app: TestService,
  tenant: Pick<TestTenant, 'key'>,
  fields: Record<string, unknown> = {},
): Promise<TestCredential> {
  const body = { name: 'a device', publish: ['audio', 'video'], ...fields };
  const answer = await app.request('POST', '/v1/device-credentials', { key: tenant.key, body });
  expect(answer.status, answer.text).toBe(201);
  return { id: answer.json.device_credential.id, credential: answer.json.credential };
}

/** A device of a tenant with credit, with an unused credential. */
export async function newDevice(app: TestService, fields: Record<string, unknown> = {}) {
  const tenant = await app.paidTenant();
  return { tenant, ...(await createCredential(app, tenant, fields)) };
}

/** `POST /join` with a valid body, overridden by the given fields. */
export function join(
  app: Pick<TestService, 'url'>,
  credential: string | undefined,
  fields: Record<string, unknown> = {},
  options: RequestOptions = {},
): Promise<Answer> {
  const body = { username: 'ann', key: deviceKey(), ...fields };
  return ask(`${app.url}/join`, 'POST', { key: credential, body, ...options });
}

/** Checks an error of this door: its status, and its one line of plain text. */
export function expectText(answer: Answer, status: number, text: string): void {
  expect({ status: answer.status, text: answer.text }).toStrictEqual({ status, text });
  expect(answer.text).not.toMatch(/[\r\n]/);
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  const retryAfter = answer.headers.get('retry-after');
  if (status === 429 || status === 503) expect(Number(retryAfter)).toBeGreaterThan(0);
  else expect(retryAfter).toBeNull();
}

/** Checks a successful join and returns its body. */
export function expectJoined(answer: Answer) {
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return answer.json as {
    token: string;
    expiresAt: string;
    room: string;
    username: string;
    keyId: string;
    device: string;
  };
}

/** The claims of a token, verified like a relay does, with the published keys. */
export async function verify(app: TestService, token: string): Promise<JWTPayload & Record<string, unknown>> {
  const { json } = await app.request('GET', '/.well-known/jwks.json');
  const { payload } = await jwtVerify(token, createLocalJWKSet(json), {
    typ: 'participant+jwt',
    algorithms: ['ES256'],
    issuer: 'http://service.test',
    audience: 'relay:service.test',
  });
  return payload;
}

export const thumbprint = (key: ReturnType<typeof deviceKey>) => calculateJwkThumbprint(key);

/** Take all credit from the tenant with an adjustment, which is a posting like any other. */
export async function spendAll(app: TestService, tenant: { id: string }): Promise<void> {
  const { db } = app.service.deps;
  const id = idOf(tenant);
  const { rows } = await db.query<{ balance: bigint }>('select balance from accounts where tenant_id = $1', [
    id,
  ]);
  await adjustCredit(db, OPERATOR, id, { amount: -rows[0]!.balance, reason: 'spent', id: undefined });
}

/** End the live room of a name, as the control plane does. */
export async function endRoom(app: TestService, tenant: { id: string }, name: string): Promise<void> {
  const { rowCount } = await app.service.deps.db.query(
    `update rooms set state = 'ENDED', ended_at = now(), end_reason = 'ended'
      where tenant_id = $1 and name = $2 and state = 'LIVE'`,
    [idOf(tenant), name],
  );
  expect(rowCount).toBe(1);
}
