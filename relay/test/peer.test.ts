import { afterAll, expect, test, vi } from 'vitest';
import { openMediaClient } from '../bench/media-client.ts';
import { readOffer } from '../src/offer.ts';
import { Peer } from '../src/peer.ts';
import { packet } from './packet.ts';

const SETTINGS = { bindAddress: '127.0.0.1', udpPorts: undefined };
const OTHER = Array.from({ length: 32 }, () => 'ab').join(':');

const open: { close(): void }[] = [];
afterAll(() => {
  for (const each of open) each.close();
});

/**
 * A client and its peer, whose hand-shake succeeds. `sends`: the client does, and not the peer. `proved`: the certificate of
 * the proof; default: that of the client.
 */
async function connect(sends: boolean, proved?: string) {
  const events = { connected: vi.fn(), impostor: vi.fn(), lost: vi.fn(), heard: vi.fn() };
  const got = vi.fn();
  let peer!: Peer;
  const exchange = async (sdp: string) => {
    const offer = readOffer(sdp, sends ? 'sendonly' : 'recvonly');
    peer = new Peer('peer', proved ?? offer.fingerprint, SETTINGS, events);
    const [{ mid, codecs }] = offer.sections as [(typeof offer.sections)[number]];
    const chosen = { codec: codecs[0]!, ...(!sends && { ssrc: 99 }) };
    return offer.answer(await peer.answer(offer.transport), new Map([[mid, chosen]]));
  };
  const client = await openMediaClient(sends ? 'SendOnly' : 'RecvOnly', exchange, got);
  open.push(client, peer);
  await client.opened;
  const arrived = sends ? events.heard : got;
  const send = (bytes: Buffer) => (sends ? client.send(bytes) : void peer.send(bytes));
  return { peer, events, arrived, send };
}

test.each([
  ['heard', true],
  ['sent', false],
])(
  'media is %s if the certificate of the connection is that of the proof, and else never',
  async (_, sends) => {
    const [thief, ann] = [await connect(sends, OTHER), await connect(sends)];
    await expect.poll(() => thief.events.impostor.mock.calls).toHaveLength(1);
    let sequence = 0;
    // A packet of the thief is on its way before each one of Ann.
    const arrived = () => {
      sequence += 1;
      for (const { send } of [thief, ann]) send(packet({ sequence }));
      return ann.arrived.mock.calls.length;
    };
    await expect.poll(arrived, { interval: 10 }).toBeGreaterThan(20);
    expect(ann.events.connected).toHaveBeenCalledTimes(1);
    expect([ann.peer.isTrusted, thief.peer.isTrusted]).toStrictEqual([true, false]);
    for (const event of [thief.events.connected, thief.arrived]) expect(event).not.toHaveBeenCalled();
  },
);
