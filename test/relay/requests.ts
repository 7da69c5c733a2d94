/** Requests to a relay without a browser: offers that lead to no media. */
import { onTestFinished } from 'vitest';
import type { Device } from '../../sdk/typescript/src/device/device.ts';
import type { Relay } from './support.ts';

export const FINGERPRINT = Array.from({ length: 32 }, (_, at) => at.toString(16).padStart(2, '0')).join(':');

/** An offer to send sound, with further lines. */
export const offer = (lines = '', fingerprint = FINGERPRINT) =>
  [
    'v=0',
    'o=- 1 2 IN IP4 127.0.0.1',
    's=-',
    't=0 0',
    `a=fingerprint:sha-256 ${fingerprint}`,
    'a=ice-ufrag:abcd',
    'a=ice-pwd:abcdefghijklmnopqrstuvwx',
    'a=setup:actpass',
    'm=audio 9 UDP/TLS/RTP/SAVPF 111',
    'c=IN IP4 0.0.0.0',
    'a=mid:0',
    'a=sendonly',
    'a=rtcp-mux',
    'a=rtpmap:111 opus/48000/2',
    lines,
  ].join('\r\n');

export interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly body?: string;
  /** The address that the proof names. Default: that of the request. */
  readonly proofOf?: string;
  readonly challenge?: string;
  readonly fingerprint?: string;
  readonly type?: string;
  /** The address that a proxy says the request came from. */
  readonly from?: string;
}

export interface Sender {
  readonly relay: Pick<Relay, 'url'>;
  readonly device: Device;
  readonly token: string;
}

export async function challengeFrom({ url }: Pick<Relay, 'url'>): Promise<string> {
  return (await fetch(`${url}/healthz`)).headers.get('dpop-nonce')!;
}

/** A metric of the relay, with its labels; 0 before it is first counted. */
export async function metricOf({ url }: Pick<Relay, 'url'>, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(name));
  return Number(line?.split(' ').at(-1) ?? 0);
}

/** A request with a token and a proof. */
export async function sendTo(
  { relay, device, token }: Sender,
  {
    path = '/rooms/lobby/whip',
    method = 'POST',
    body = offer(),
    proofOf = `${relay.url}${path}`,
    challenge,
    fingerprint = FINGERPRINT,
    type = 'application/sdp',
    from,
  }: Sent = {},
) {
  const proof = await device.proof({
    token,
    challenge: challenge ?? (await challengeFrom(relay)),
    url: proofOf,
    method,
    dtlsFingerprint: fingerprint,
  });
  const headers = {
    ...{ authorization: `DPoP ${token}`, dpop: proof, 'content-type': type },
    ...(from !== undefined && { 'x-forwarded-for': from }),
  };
  const answer = await fetch(`${relay.url}${path}`, { method, headers, body });
  const text = await answer.text();
  const code = text.startsWith('{') ? JSON.parse(text).error.code : undefined;
  return {
    status: answer.status,
    code,
    location: answer.headers.get('location'),
    text,
  };
}

/** Follows a session by its address. Returns the newest data of an event by name. */
export async function followEvents(session: string) {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const { body } = await fetch(`${session}/events`, { signal: leaving.signal });
  const events: { event: string; data: object }[] = [];
  const read = async () => {
    let text = '';
    for await (const part of body!.pipeThrough(new TextDecoderStream())) {
      const blocks = (text + part).split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) {
        const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
        if (event !== undefined) events.push({ event, data: JSON.parse(data!) });
      }
    }
  };
  read().catch(() => undefined);
  return (name: string) => events.findLast(({ event }) => event === name)?.data;
}
