/** A service that mints tokens, a device that proves its key, and a relay: all with fixed keys and times. */
import { createECDH, createHash } from 'node:crypto';
import { base64url, calculateJwkThumbprint, importJWK, type JWK } from 'jose';
import { expect } from 'vitest';
import {
  AdmissionRefused,
  type Attempt,
  createTokenVerifier,
  type TokenVerifierOptions,
} from '../../../sdk/typescript/src/relay/index.ts';

/** 2027-01-15T08:00:00Z */
export const NOW_SECONDS = 1_800_000_000;
export const ISSUER = 'https://boxoffice.example';
export const AUDIENCE = 'relay:boxoffice.example';
export const RELAY_URL = 'https://relay.example/connect';
export const FINGERPRINT = createHash('sha256')
  .update('dtls certificate of the device')
  .digest('hex')
  .replace(/..(?!$)/g, '$&:');
export const ROOM_UID = 'room_6f2d1c0e';
export const TENANT = 't_e3131c22f12898a2';
export const RANGE_SALT = '2c5d0a71e94b4f6f8d13a7c0b6e2f951';

export type Json = Record<string, unknown>;

/** A reproducible key pair: the private scalar is the SHA-256 of its name. */
export function keyNamed(name: string): JWK & { x: string; y: string; d: string } {
  const secret = createHash('sha256').update(name).digest();
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(secret);
  const point = ecdh.getPublicKey();
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'));
  return { kty: 'EC', crv: 'P-256', x: x!, y: y!, d: secret.toString('base64url') };
}

export function publicOf({ kty, crv, x, y }: JWK): JWK {
  return { kty, crv, x, y } as JWK;
}

export const signingKey = keyNamed('boxoffice test vectors: signing key');
export const deviceKey = keyNamed('boxoffice test vectors: device key');
export const thiefKey = keyNamed('boxoffice test vectors: another device key');

export const KID = await calculateJwkThumbprint(publicOf(signingKey));
export const DEVICE_THUMBPRINT = await calculateJwkThumbprint(publicOf(deviceKey));
export const jwks = { keys: [{ ...publicOf(signingKey), kid: KID, alg: 'ES256', use: 'sig' }] };

/** A member that is `undefined` in `changes` is left out. */
export function tokenHeader(changes: Json = {}): Json {
  return { alg: 'ES256', kid: KID, typ: 'participant+jwt', ...changes };
}

export function tokenClaims(changes: Json = {}): Json {
  return {
    iss: ISSUER,
    aud: AUDIENCE,
    sub: 'ann',
    tid: TENANT,
    iat: NOW_SECONDS,
    nbf: NOW_SECONDS,
    exp: NOW_SECONDS + 600,
    jti: 'q8w0c3c5d0m5l4v3s2a1ZQ',
    cnf: { jkt: DEVICE_THUMBPRINT },
    room: 'lobby',
    rid: ROOM_UID,
    role: 'host',
    cap: ['chat.send', 'publish.audio', 'subscribe.audio'],
    rank: 80,
    ep: 3,
    key: '0f7e440556fe905a',
    salt: RANGE_SALT,
    ...changes,
  };
}

export function proofHeader(changes: Json = {}): Json {
  return { typ: 'dpop+jwt', alg: 'ES256', jwk: publicOf(deviceKey), ...changes };
}

export function proofClaims(token: string, challenge: string, changes: Json = {}): Json {
  return {
    jti: '5f0c1f5e-6f0e-4f0e-8f0e-0f0e0f0e0f0e',
    htm: 'CONNECT',
    htu: RELAY_URL,
    iat: NOW_SECONDS,
    ath: createHash('sha256').update(token).digest('base64url'),
    nonce: challenge,
    dtls_fp: FINGERPRINT,
    ...changes,
  };
}

/** A signature by ES256, whatever the header says. */
export async function sign(header: Json, claims: unknown, key: JWK = signingKey): Promise<string> {
  const signed = signingInput(header, claims);
  const [first, second] = signed.split('.') as [string, string];
  const cryptoKey = (await importJWK(key, 'ES256')) as CryptoKey;
  const signature = await crypto.subtle.sign(
    { name: 'ECDSA', hash: 'SHA-256' },
    cryptoKey,
    Buffer.from(signed),
  );
  return `${first}.${second}.${base64url.encode(new Uint8Array(signature))}`;
}

export function signingInput(header: Json, claims: unknown): string {
  return [header, claims].map((part) => base64url.encode(JSON.stringify(part))).join('.');
}

export async function mint(changes: Json = {}, header: Json = {}, key: JWK = signingKey): Promise<string> {
  return await sign(tokenHeader(header), tokenClaims(changes), key);
}

export async function prove(
  token: string,
  challenge: string,
  changes: Json = {},
  header: Json = {},
  key: JWK = deviceKey,
): Promise<string> {
  return await sign(proofHeader(header), proofClaims(token, challenge, changes), key);
}

/** The hashes of users, devices and rooms in revocations, implemented independently of the SDK. */
export function hashed(purpose: string, roomOrTenant: string, value?: string): string {
  const sha256 = createHash('sha256').update(`${purpose}\0${roomOrTenant}`);
  if (value !== undefined) sha256.update(`\0${value}`);
  return base64url.encode(sha256.digest().subarray(0, 16));
}

/** The value of a ban of a range, implemented independently of the SDK. `secret`: the salt, or uid of a room. */
export function hashedRange(secret: string, cidr: string): string {
  const [network = '', length] = cidr.split('/');
  const bits = Number(length);
  const isFour = !network.includes(':');
  const width = isFour ? 32 : 128;
  const groups = isFour ? network.split('.').map(Number) : groupsOf(network);
  const number = groups.reduce((sum, group) => (sum << BigInt(isFour ? 8 : 16)) | BigInt(group), 0n);
  const host = BigInt(width - bits);
  const digits = ((number >> host) << host).toString(16).padStart(width / 4, '0');
  return `${bits}/${hashed('range', secret, `${digits}/${bits}`)}`;
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  // In a URL, every address has its canonical spelling, without dots.
  const { hostname } = new URL(`http://[${address}]`);
  const [head, tail] = hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter(Boolean));
  const gap = Array(8 - head!.length - (tail?.length ?? 0)).fill('0');
  return [...head!, ...gap, ...(tail ?? [])].map((group) => Number.parseInt(group, 16));
}

/** The clock does not advance. */
export const stoppedClock = { now: () => 0, wallNow: () => NOW_SECONDS * 1000 };

/** A relay that has the keys. Any use of the network fails the test. */
export function createRelay(options: Partial<TokenVerifierOptions> = {}) {
  return createTokenVerifier({
    issuer: ISSUER,
    audience: AUDIENCE,
    jwks,
    clock: stoppedClock,
    fetch: async (url) => expect.fail(`the relay asked the network for ${url}`),
    ...options,
  } as TokenVerifierOptions);
}

export function attemptWith(token: string, proof: string, challenge: string): Attempt {
  return { token, proof, challenge, url: RELAY_URL, method: 'CONNECT', dtlsFingerprint: FINGERPRINT };
}

/** The code of the refusal of `promise`; `undefined` if there is none. Any other error fails. */
export async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof AdmissionRefused) return error.code;
    throw error;
  }
  return undefined;
}
