/** `POST /join`: a device gets a token without a back end. Source: specification 4.11. */
import type { PublicJwk } from './device-key.ts';
import { JoinError, joinErrorOf } from './errors.ts';
import type { Timers } from './timers.ts';

const ANSWER_SECONDS_MAX = 20;
const PROBE_SECONDS_MAX = 5;

/** Who joins, and where. */
export interface JoinRequest {
  /** The deployment's join host, with or without `/join` at the end. */
  readonly url: string;
  /** A device credential: `dev_...`. */
  readonly credential: string;
  /** The name to join as; the service normalizes it. */
  readonly username: string;
  /** Default: the credential's default room. */
  readonly room?: string;
  /** Default: the credential's tenant. */
  readonly tenant?: string;
}

/** A token and its contents, without the need to parse it. */
export interface Grant {
  /** What the device shows to relays, with a proof. */
  readonly token: string;
  /** When the token expires. */
  readonly expiresAt: Date;
  /** The room of the token. */
  readonly room: string;
  /** The normalised name. */
  readonly username: string;
  /** Id of the key that signed the token. */
  readonly keyId: string;
  /** Thumbprint of the device key that the token is bound to. */
  readonly device: string;
}

/** One request, with the device's public key. Throws `JoinError`. */
export async function requestGrant(
  request: JoinRequest,
  key: PublicJwk,
  options: { fetch: typeof fetch; timers: Timers },
): Promise<Grant> {
  const { url, credential, username, room, tenant } = request;
  const host = url.replace(/(\/join)?\/*$/, '');
  const content = { ...options, credential, body: JSON.stringify({ tenant, username, room, key }) };
  const attempt = () => post(`${host}/join`, content);
  const { status, body, retryAfter } = await attempt().catch(async (error) => {
    const origin = await findRefusedOrigin(host, options.fetch);
    if (origin === undefined) throw error;
    // The network may have failed only before the question: what fails again was refused.
    return await attempt().catch((cause) => {
      throw new JoinError('ORIGIN_REFUSED', `the join endpoint does not allow pages of ${origin}`, { cause });
    });
  });
  if (status !== 200) throw joinErrorOf(status, body, retryAfter);
  const grant = parseGrant(body);
  if (!grant) throw new JoinError('BAD_ANSWER', 'the join endpoint answered without a token', { status });
  return grant;
}

/**
 * The origin of this web page, if the endpoint may have refused it.
 *
 * Browsers tell pages about a refusal and about a broken network in the same words. But every page may read
 * the published keys of the same host: if it can, the host was reached.
 */
async function findRefusedOrigin(host: string, send: typeof fetch): Promise<string | undefined> {
  const origin = (globalThis as { location?: Location }).location?.origin;
  if (origin === undefined || !URL.canParse(host) || new URL(host).origin === origin) return undefined;
  const signal = AbortSignal.timeout(PROBE_SECONDS_MAX * 1000);
  const options: RequestInit = { credentials: 'omit', cache: 'no-store', redirect: 'error', signal };
  const answer = await send(`${host}/.well-known/jwks.json`, options).catch(() => undefined);
  return answer?.ok ? origin : undefined;
}

async function post(
  url: string,
  options: { fetch: typeof fetch; timers: Timers; credential: string; body: string },
): Promise<{ status: number; body: string; retryAfter: string | null }> {
  const { timers } = options;
  const timeout = new AbortController();
  const timer = timers.setTimeout(() => timeout.abort(), ANSWER_SECONDS_MAX * 1000);
  try {
    const answer = await options.fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${options.credential}`, 'content-type': 'application/json' },
      body: options.body,
      // No redirects: the credential must only be sent to the given host.
      redirect: 'error',
      credentials: 'omit',
      cache: 'no-store',
      signal: timeout.signal,
    });
    return {
      status: answer.status,
      body: await answer.text(),
      retryAfter: answer.headers.get('retry-after'),
    };
  } catch (cause) {
    throw new JoinError('NETWORK', 'the join endpoint did not answer', { cause, retryable: true });
  } finally {
    timers.clearTimeout(timer);
  }
}

function parseGrant(body: string): Grant | undefined {
  const { token, expiresAt, room, username, keyId, device } = parseObject(body);
  const texts = [token, expiresAt, room, username, keyId, device];
  const expiry = new Date(String(expiresAt));
  if (!texts.every((text) => typeof text === 'string') || Number.isNaN(expiry.getTime())) return undefined;
  return { token, room, username, keyId, device, expiresAt: expiry } as Grant;
}

function parseObject(body: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}
