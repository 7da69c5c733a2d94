/** A relay, and the parts of a browser that talk to it, which do what a test says. No media flows. */
import { vi } from 'vitest';
import { settle } from './support.ts';

/** What the relay answers to an offer. Without a code, it accepts. */
export interface Verdict {
  readonly status: number;
  readonly code?: string;
  /** Whose media a subscription carries. */
  readonly publisher?: string;
}

/** `whip`: to publish; `whep`: to subscribe. */
type Path = 'whip' | 'whep';

class FalsePeer {
  static readonly certificate = {
    expires: Number.POSITIVE_INFINITY,
    getFingerprints: () => [{ value: 'ab' }],
  };
  static readonly generateCertificate = vi.fn(async () => FalsePeer.certificate);
  readonly iceGatheringState = 'complete';
  readonly localDescription = { sdp: 'v=0' };
  connectionState = 'new';
  async setLocalDescription(): Promise<void> {}
  async setRemoteDescription(): Promise<void> {}
  addTransceiver(): { mid: string } {
    return { mid: '0' };
  }
  close(): void {
    this.connectionState = 'closed';
  }
}

/** Streams of events that are open, by their address. */
const streams = new Map<string, FalseStream>();

class FalseStream extends EventTarget {
  static readonly CLOSED = 2;
  readyState = 1;
  readonly #url: string;

  constructor(url: string) {
    super();
    this.#url = url;
    streams.set(url, this);
  }

  close(): void {
    this.readyState = FalseStream.CLOSED;
    streams.delete(this.#url);
  }
}

/** Offers so far. */
interface Offered {
  readonly path: Path;
  /** Milliseconds since the relay began. */
  readonly atMs: number;
}

export const RELAY_URL = 'https://relay.example';

/** From now on, this process is a browser. `vi.unstubAllGlobals()` and `vi.useRealTimers()` undo it. */
export function useFalseRelay(verdictOf: (path: Path, count: number) => Verdict) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  vi.stubGlobal('RTCPeerConnection', FalsePeer);
  vi.stubGlobal('EventSource', FalseStream);
  streams.clear();
  FalsePeer.generateCertificate.mockClear();
  const begunMs = Date.now();
  const offers: Offered[] = [];
  const left: string[] = [];
  /** Requests whose proof is being signed, beside the thread. */
  let proving = 0;
  const settled = async () => {
    do for (let turn = 0; turn < 20; turn += 1) await settle();
    while (proving > 0);
  };

  vi.stubGlobal('fetch', async (url: string, { method = 'GET', headers = {} }: RequestInit = {}) => {
    const [, path] = /\/rooms\/stage\/(whip|whep)/.exec(url) ?? [];
    if (path === undefined) {
      if (method === 'DELETE') left.push(url);
      return new Response(null, { status: 204 });
    }
    const nonce = { 'dpop-nonce': 'challenge', 'www-authenticate': 'DPoP error="use_dpop_nonce"' };
    proving += 'dpop' in headers ? -1 : 1;
    if (!('dpop' in headers)) return new Response('{}', { status: 401, headers: nonce });
    offers.push({ path: path as Path, atMs: Date.now() - begunMs });
    const count = offers.length;
    const { status, code, publisher = '' } = verdictOf(path as Path, count);
    if (code !== undefined) return Response.json({ error: { code, message: code } }, { status });
    return new Response('v=0', { status, headers: { location: `/sessions/${count}`, publisher } });
  });

  return {
    offers,
    /** The addresses of sessions that were left. */
    left,
    certificates: () => FalsePeer.generateCertificate.mock.calls.length,
    /** An event of the session that came of an offer, by its number from 1. */
    async tell(offer: number, event: string, data: object): Promise<void> {
      const stream = streams.get(`${RELAY_URL}/sessions/${offer}/events`);
      stream?.dispatchEvent(new MessageEvent(event, { data: JSON.stringify(data) }));
      await settled();
    },
    /** Let time pass, and what it starts be done. */
    async pass(ms: number): Promise<void> {
      for (let at = 0; at < ms; at += 500) {
        vi.advanceTimersByTime(500);
        await settled();
      }
    },
  };
}
