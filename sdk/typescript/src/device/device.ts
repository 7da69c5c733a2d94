/** A device: its own key, tokens that are bound to it, and proofs that it holds the key. */
import { encodeBase64url, encodeUtf8, sha256 } from './base64url.ts';
import { generateDeviceKey, type KeyStore, type PublicJwk, publicJwkOf, thumbprintOf } from './device-key.ts';
import { JoinError } from './errors.ts';
import { indexedDbKeyStore } from './indexed-db-key-store.ts';
import { type Grant, type JoinRequest, requestGrant } from './join.ts';
import { withRetries } from './retry.ts';
import { systemTimers, type Timers } from './timers.ts';

/** How long `join` retries when the service is temporarily unavailable. */
export const JOIN_SECONDS_MAX = 60;

/** The key, and where it is stored. */
export interface DeviceOptions {
  /** A key of the application; nothing is stored. */
  readonly key?: CryptoKeyPair;
  /** Storage for the key. Default: IndexedDB, or memory if there is none. */
  readonly store?: KeyStore;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof fetch;
  /** For tests: time. */
  readonly timers?: Timers;
}

/** What a relay asks a device to sign. */
export interface ProofRequest {
  /** The token to prove. */
  readonly token: string;
  /** As received from the relay. */
  readonly challenge: string;
  /** The address at which this device reaches the relay. */
  readonly url: string;
  /** The method that the relay expects: `CONNECT`, unless it chose another. */
  readonly method: string;
  /** SHA-256 of this device's DTLS certificate, as `RTCCertificate.getFingerprints()` gives it. */
  readonly dtlsFingerprint: string;
}

/** A key pair whose private half stays on the device, and its uses. */
export interface Device {
  /** What a tenant's back end needs to mint a token for this device. */
  readonly thumbprint: string;
  /** The public half, for a back end that wants more than the thumbprint. */
  readonly publicJwk: PublicJwk;
  /** Ask the join endpoint for a token. Retries temporary failures for a minute. Throws `JoinError`. */
  join(
    request: JoinRequest,
    options?: {
      /** Stops further attempts. */
      signal?: AbortSignal;
    },
  ): Promise<Grant>;
  /** A proof for one token, relay, challenge and DTLS connection. */
  proof(request: ProofRequest): Promise<string>;
}

/**
 * The device of this browser profile, with the stored key or a new one. Throws `TypeError` for a key
 * that is not on P-256.
 */
export async function createDevice(options: DeviceOptions = {}): Promise<Device> {
  const key = options.key ?? (await findStore(options).keep(await generateDeviceKey()));
  const publicJwk = await publicJwkOf(key);
  const thumbprint = await thumbprintOf(publicJwk);
  const timers = options.timers ?? systemTimers;
  // Browsers refuse to call their fetch as a method of another object.
  const send: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init));

  return {
    thumbprint,
    publicJwk,
    async join(request, { signal = new AbortController().signal } = {}) {
      const untilMs = timers.now() + JOIN_SECONDS_MAX * 1000;
      const attempt = () => requestGrant(request, publicJwk, { fetch: send, timers });
      const grant = await withRetries(attempt, { timers, untilMs, signal });
      if (grant.device !== thumbprint)
        throw new JoinError('BAD_ANSWER', 'the token is bound to another device');
      return grant;
    },
    async proof(request) {
      return await signProof(request, key.privateKey, publicJwk, timers.now());
    },
  };
}

function findStore(options: DeviceOptions): KeyStore {
  if (options.store) return options.store;
  return 'indexedDB' in globalThis ? indexedDbKeyStore : { keep: async (candidate) => candidate };
}

/** In the format of RFC 9449 (DPoP), with the relay's challenge as nonce and the DTLS certificate added. */
async function signProof(
  request: ProofRequest,
  privateKey: CryptoKey,
  jwk: PublicJwk,
  nowMs: number,
): Promise<string> {
  const header = { typ: 'dpop+jwt', alg: 'ES256', jwk };
  const claims = {
    jti: crypto.randomUUID(),
    htm: request.method,
    htu: targetOf(request.url),
    iat: Math.floor(nowMs / 1000),
    ath: await sha256(request.token),
    nonce: request.challenge,
    dtls_fp: request.dtlsFingerprint.toLowerCase(),
  };
  const signed = [header, claims].map((part) => encodeBase64url(encodeUtf8(JSON.stringify(part)))).join('.');
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' };
  const signature = await crypto.subtle.sign(algorithm, privateKey, encodeUtf8(signed));
  return `${signed}.${encodeBase64url(signature)}`;
}

/** A proof names the relay without query and fragment, which may hold secrets. */
function targetOf(text: string): string {
  const url = new URL(text);
  url.search = '';
  url.hash = '';
  return url.href;
}
