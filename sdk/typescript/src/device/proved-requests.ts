/** Requests to a relay with the token of the session and a proof, by the nonce hand-shake of DPoP (RFC 9449). */
import type { Device } from './device.ts';
import { ConnectError } from './errors.ts';

export interface ProvedRequestsOptions {
  /** The device that the token is bound to. */
  readonly device: Device;
  /** The newest token: it is asked for with each request. */
  readonly token: () => string;
  /** SHA-256 of the DTLS certificate of the connection. */
  readonly dtlsFingerprint: string;
}

/** The body of an answer that refuses. */
interface Refusal {
  readonly error?: { readonly code?: string; readonly message?: string; readonly reason?: string };
}

/** Those of one connection: each answer brings the challenge for the next. */
export class ProvedRequests {
  readonly #options: ProvedRequestsOptions;
  /** The challenge of the last answer, or of an event. */
  challenge: string | undefined;
  #shown = '';

  constructor(options: ProvedRequestsOptions) {
    this.#options = options;
  }

  /** Whether the relay has the newest token. */
  get isCurrent(): boolean {
    return this.#options.token() === this.#shown;
  }

  /** The first request learns the challenge, and is sent again. Throws `ConnectError`. */
  async send(method: 'POST' | 'PATCH', url: string, sdp?: string): Promise<Response> {
    for (let attempt = 1; ; attempt += 1) {
      const token = this.#options.token();
      const { challenge } = this;
      const headers: Record<string, string> = { authorization: `DPoP ${token}` };
      if (challenge !== undefined) headers.dpop = await this.#prove(token, challenge, method, url);
      if (sdp !== undefined) headers['content-type'] = 'application/sdp';
      const answer = await fetch(url, { method, headers, ...(sdp !== undefined && { body: sdp }) }).catch(
        (cause) => {
          throw noAnswerFrom(url, cause);
        },
      );
      this.challenge = answer.headers.get('dpop-nonce') ?? undefined;
      if (answer.ok) {
        this.#shown = token;
        return answer;
      }
      const wantsNonce = answer.headers.get('www-authenticate')?.includes('use_dpop_nonce') ?? false;
      if (answer.status === 401 && attempt < 3 && (wantsNonce || challenge === undefined)) continue;
      throw await errorOf(answer);
    }
  }

  #prove(token: string, challenge: string, method: string, url: string): Promise<string> {
    const { device, dtlsFingerprint } = this.#options;
    return device.proof({ token, challenge, url, method, dtlsFingerprint });
  }
}

/** A browser does not tell a page which of the two it is. */
function noAnswerFrom(url: string, cause: unknown): ConnectError {
  const message = `no answer from ${new URL(url).origin}: it cannot be reached, or lets no page of this origin in (CORS)`;
  return new ConnectError('NETWORK', message, undefined, undefined, { cause });
}

async function errorOf(answer: Response): Promise<ConnectError> {
  const body = (await answer.json().catch(() => ({}))) as Refusal;
  const { code = 'BAD_ANSWER', message = `status ${answer.status}`, reason } = body.error ?? {};
  return new ConnectError(code, message, answer.status, reason);
}
