/** Participants with made-up media, without a browser. */
import { afterAll, expect } from 'vitest';
import {
  type MediaClient,
  type MediaClientOptions,
  openMediaClient,
  SSRC,
} from '../../relay/bench/media-client.ts';
import { createDevice, type Device } from '../../sdk/typescript/src/device/device.ts';
import { createCredential } from '../support/devices.ts';
import type { TestService, TestTenant } from '../support/service.ts';
import { FINGERPRINT, sendTo } from './requests.ts';
import type { Relay } from './support.ts';

export const PACKET_BYTES = 1_000;

export interface Connected extends MediaClient {
  readonly location: string;
  readonly answer: string;
  /** Packets so far. */
  readonly received: () => number;
}

/** Resolves when media can flow. */
type Connect = (
  username: string,
  room: string,
  path: 'whip' | 'whep',
  options?: MediaClientOptions,
) => Promise<Connected>;

export interface Meeting {
  /** As a device of its own. */
  readonly connect: Connect;
  /** The same with a proof and an offer of another certificate than that of the connection. Resolves when the relay has answered. */
  readonly swap: Connect;
  /** An offer to publish, of a new device, which leads to no connection. */
  begin(username: string, room: string): ReturnType<typeof sendTo>;
}

/** Participants of a tenant at a relay, each with a device of its own. Their connections end with the test file. */
export async function openMeeting(app: TestService, tenant: TestTenant, relay: Relay): Promise<Meeting> {
  const { credential } = await createCredential(app, tenant, { publish: ['audio', 'video'] });
  const devices = new Map<string, Device>();
  const join = async (device: Device, username: string, room: string) =>
    (await device.join({ url: app.url, credential, username, room })).token;
  const begin: Meeting['begin'] = async (username, room) => {
    const device = await createDevice();
    const token = await join(device, username, room);
    return sendTo({ relay, device, token }, { path: `/rooms/${room}/whip` });
  };
  /** `shown`: the certificate of the proof and the offer. Default: that of the connection. */
  const offer = async (
    shown: string | undefined,
    ...[username, room, path, options]: Parameters<Connect>
  ) => {
    const device = devices.get(username) ?? (await createDevice());
    devices.set(username, device);
    const token = await join(device, username, room);
    let location = '';
    let answer = '';
    let received = 0;
    const exchange = async (own: string, ofConnection: string) => {
      const fingerprint = shown ?? ofConnection;
      const body = own.replaceAll(ofConnection, fingerprint);
      const post = () =>
        sendTo({ relay, device, token }, { path: `/rooms/${room}/${path}`, body, fingerprint });
      let sent = await post();
      // The relay opens its end of what a publisher sends a moment after the publisher.
      if (path === 'whep' && sent.status === 409) {
        const again = async () => {
          sent = await post();
          return sent.status;
        };
        await expect.poll(again).not.toBe(409);
      }
      answer = sent.text;
      if (sent.status !== 201) throw new Error(answer);
      location = relay.url + sent.location;
      return answer;
    };
    const direction = path === 'whip' ? 'SendOnly' : 'RecvOnly';
    const onPacket = () => {
      received += 1;
    };
    const client = await openMediaClient(direction, exchange, onPacket, options);
    clients.push(client);
    return {
      ...client,
      send: (packet: Buffer) => attempt(() => client.send(packet)),
      location,
      answer,
      received: () => received,
    };
  };
  const connect: Connect = async (...given) => {
    const client = await offer(undefined, ...given);
    await client.opened;
    return client;
  };
  const swap: Connect = (...given) => offer(FINGERPRINT, ...given);
  return { connect, swap, begin };
}

const clients: MediaClient[] = [];
afterAll(() => {
  for (const client of clients) client.close();
});

/** Begins like a key frame of VP8 of 640 x 360. */
export function picture(sequence: number, { ssrc = SSRC, bytes = PACKET_BYTES } = {}): Buffer {
  const packet = Buffer.alloc(bytes);
  packet.set([0x80, 0x80 | 96]);
  packet.writeUInt16BE(sequence, 2);
  packet.writeUInt32BE(ssrc, 8);
  packet.set([0x10, 0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, 0x80, 0x02, 0x68, 0x01], 12);
  return packet;
}

/** A connection that never opened, or is closed, takes no packet. */
function attempt(send: () => void): void {
  try {
    send();
  } catch {
    // That it does not arrive is what tests are about.
  }
}
