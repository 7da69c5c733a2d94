/** The vectors of docs/vectors, decided by the SDK. */
import { readFile } from 'node:fs/promises';
import { StatementRefused, verifyStatement, verifyWebhook, WebhookRefused } from '../src/backend/index.ts';
import {
  AdmissionRefused,
  checkRevocations,
  createTokenVerifier,
  followRevocations,
  type Revocations,
  type TokenVerifier,
} from '../src/relay/index.ts';
import { hashOf } from '../src/relay/revocations.ts';
import { toSuite } from './names.ts';

// biome-ignore lint/suspicious/noExplicitAny: files of test vectors
type File = any;
type Json = Record<string, unknown>;

async function read(path: string): Promise<File> {
  return JSON.parse(await readFile(path, 'utf8'));
}

/** By name of the vector, the code of the refusal; null: admitted. */
export async function decideTokens(path: string, jwksUrl?: string): Promise<Json> {
  const file = await read(path);
  const codes: Json = {};
  for (const vector of file.vectors) codes[vector.name] = await codeOf(file, vector, jwksUrl);
  return codes;
}

async function codeOf(file: File, vector: File, jwksUrl?: string): Promise<string | null> {
  const { challenge, dtls_fingerprint, ...connection } = { ...file.connection, ...vector.connection };
  const verifier = createTokenVerifier({
    issuer: file.issuer,
    audience: file.audience,
    ...(jwksUrl === undefined ? { jwks: file.jwks } : { jwksUrl }),
    tenants: new Set([file.served.tenant]),
    rooms: new Set([file.served.room]),
    currentRoomUid: () => file.served.room_uid,
    admitted: () => vector.admitted ?? true,
    budgetReached: (_, budgets) => budgets.some((each) => vector.reached_budgets?.includes(each)),
    clock: { now: () => 0, wallNow: () => file.now * 1000 },
    ...(vector.revocations && { revocations: () => vector.revocations as Revocations }),
  });
  if (vector.challenge_issued !== false) issue(verifier, challenge);

  const { token, proof, renews } = vector;
  const attempt = { token, proof, challenge, dtlsFingerprint: dtls_fingerprint, ...connection };
  try {
    if (renews) await verifier.renew(sessionOf(renews), attempt);
    else await verifier.verify(attempt);
    return null;
  } catch (error) {
    if (error instanceof AdmissionRefused) return error.code;
    throw error;
  }
}

function sessionOf(renews: File) {
  const { tenant, username, room_uid: roomUid, device: deviceThumbprint } = renews;
  return { tenant, username, roomUid, deviceThumbprint };
}

/** Let the verifier issue this challenge, which it would draw at random. */
function issue(verifier: TokenVerifier, challenge: string): void {
  const draw = crypto.getRandomValues;
  crypto.getRandomValues = (array) => {
    Buffer.from(challenge, 'base64url').copy(array as unknown as Uint8Array);
    return array;
  };
  try {
    if (verifier.challenge() !== challenge) throw new Error('another challenge was issued');
  } finally {
    crypto.getRandomValues = draw;
  }
}

/** Hashes, the snapshot as it was read, and what each check finds. */
export async function decideRevocations(path: string): Promise<Json> {
  const file = await read(path);
  const { tid: tenant } = file.claims;
  const snapshot = await snapshotOf(file, tenant);
  const checks: Json = {};
  for (const each of file.checks) checks[each.name] = check(snapshot, each, file.now);
  return {
    hashes: file.hashes.map(({ of }: { of: string[] }) => hashOf(...of)),
    claims: snapshot,
    checks,
  };
}

async function snapshotOf(file: File, tenant: string): Promise<Revocations | undefined> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const feed = followRevocations({
    url: 'https://boxoffice.example',
    tenants: [tenant],
    issuer: file.issuer,
    audience: file.audience,
    jwks: file.jwks,
    clock: { now: () => 0, wallNow: () => file.now * 1000, after: () => () => {} },
    fetch: async () => new Response(file.jws),
    onChange: () => resolve(),
  });
  await promise;
  await feed.close();
  return feed.get(tenant);
}

function check(snapshot: Revocations | undefined, each: File, now: number): Json {
  const { tenant, user, room_uid, epoch, device, address, salt, key } = each.subject;
  const subject = {
    tenant,
    username: user,
    roomUid: room_uid,
    epoch,
    deviceThumbprint: device,
    rangeSalt: salt,
    mintedBy: key,
  };
  try {
    const muted = checkRevocations(snapshot, subject, { nowMs: (each.now ?? now) * 1000, address });
    return { code: null, muted };
  } catch (error) {
    if (!(error instanceof AdmissionRefused)) throw error;
    return { code: error.code, reason: error.reason };
  }
}

/** By name of the vector, the event, or the code of the refusal. */
export async function decideWebhooks(path: string): Promise<Json> {
  const { now, vectors } = await read(path);
  const found: Json = {};
  for (const { name, secrets, headers, body } of vectors) {
    try {
      const event = verifyWebhook(secrets, headers, body, { now: new Date(now * 1000) });
      found[name] = { event: toSuite(event) };
    } catch (error) {
      if (error instanceof WebhookRefused) found[name] = { code: error.code };
      else if (error instanceof TypeError) found[name] = { code: 'BAD_SECRET' };
      else throw error;
    }
  }
  return found;
}

/** By name of the vector, the statement, or the code of the refusal. */
export async function decideStatements(path: string): Promise<Json> {
  const { keys, vectors } = await read(path);
  const found: Json = {};
  for (const { name, jws } of vectors) {
    try {
      found[name] = { statement: toSuite(verifyStatement(jws, keys)) };
    } catch (error) {
      if (!(error instanceof StatementRefused)) throw error;
      found[name] = { code: error.code };
    }
  }
  return found;
}
