/** Participants who connect like others, and then send far too much: each is bounded, and the others go on. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type TestTenant, useService } from '../support/service.ts';
import { type Meeting, openMeeting, PACKET_BYTES, picture } from './media.ts';
import { followEvents, metricOf } from './requests.ts';
import { type Relay, startRelay } from './support.ts';

const app = useService();
const BITRATE = 2_000_000;
let tenant: TestTenant;
let connect: Meeting['connect'];
let begin: Meeting['begin'];
let relay: Relay;

beforeAll(async () => {
  tenant = await app.paidTenant();
  relay = await startRelay(app, tenant, { BITRATE_MAX: String(BITRATE), DEVICE_SESSIONS_MAX: '2' });
  ({ connect, begin } = await openMeeting(app, tenant, relay));
});
afterAll(() => relay?.stop());

const metric = (name: string) => metricOf(relay, name);
const BYTES_OUT = 'relay_rtp_bytes_total{direction="out"}';
const TOO_FAST = 'relay_sessions_ended_total{code="TOO_FAST"}';

test('what a subscriber asks for again is counted, and never more than it got', async () => {
  const [ann, bob] = [await connect('ann', 'again', 'whip'), await connect('bob', 'again', 'whep')];
  const before = await metric(BYTES_OUT);
  for (let sequence = 0; sequence < 40; sequence += 1) ann.send(picture(sequence));
  await expect.poll(bob.received).toBe(40);
  const ssrc = Number(/^a=ssrc:(\d+)/m.exec(bob.answer)![1]);
  // All that came, a hundred times over.
  const nack = Buffer.alloc(12 + 4 * 300);
  nack.set([0x81, 205]);
  nack.writeUInt16BE(nack.length / 4 - 1, 2);
  nack.writeUInt32BE(ssrc, 8);
  for (let at = 12; at < nack.length; at += 4) nack.set([0, at % 40, 0xff, 0xff], at);
  for (let count = 0; count < 5; count += 1) bob.send(nack);
  await expect.poll(async () => (await metric(BYTES_OUT)) - before).toBe(2 * 40 * PACKET_BYTES);
  for (const each of [ann, bob]) await fetch(each.location, { method: 'DELETE' });
});

test('an offer under the name of a publisher that leads to no connection takes nothing from it', async () => {
  const [ann, bob] = [await connect('ann', 'name', 'whip'), await connect('bob', 'name', 'whep')];
  const sent = await begin('ann', 'name');
  expect(sent.status).toBe(201);
  ann.send(picture(1));
  await expect.poll(bob.received).toBe(1);
  await fetch(relay.url + sent.location, { method: 'DELETE' });
  ann.send(picture(2));
  await expect.poll(bob.received).toBe(2);
  for (const each of [ann, bob]) await fetch(each.location, { method: 'DELETE' });
});

test('a full relay gives up the oldest offer that led to no connection, and no open one', async () => {
  const small = await startRelay(app, tenant, { SESSIONS_MAX: '3' });
  onTestFinished(() => small.stop());
  const { connect, begin } = await openMeeting(app, tenant, small);
  const end = async ({ location }: { location: string | null }) =>
    (await fetch(new URL(location!, small.url), { method: 'DELETE' })).status;
  const ann = await connect('ann', 'small', 'whip');
  const offers = [await begin('eve', 'other'), await begin('kim', 'third'), await begin('eve', 'small')];
  expect(offers.map(({ status }) => status)).toStrictEqual([201, 201, 201]);
  expect(await end(offers[0]!)).toBe(404);
  const bob = await connect('bob', 'small', 'whep');
  expect([await end(offers[1]!), await end(offers[2]!)]).toStrictEqual([404, 200]);
  const cid = await connect('cid', 'small', 'whep');
  expect(await begin('eve', 'small')).toMatchObject({ status: 503, code: 'FULL' });
  for (const each of [cid, bob, ann]) expect(await end(each)).toBe(200);
});

test.each([
  ['whip', 'faster than it may', (at: number) => picture(at % 0x10000)],
  ['whip', 'tiny packets', (at: number) => picture(at % 0x10000, { bytes: 30 })],
  ['whip', 'as ever another sender', (at: number) => picture(at % 0x10000, { ssrc: 1 + at, bytes: 30 })],
  ['whep', 'reports without end', () => Buffer.from([0x80, 201, 0, 1, 0, 0, 0, 1])],
] as const)('by %s, a participant that sends %s is ended, and no other', async (path, _, make) => {
  const ann = await connect('ann', path, 'whip');
  const eve = await connect('eve', path, path);
  const before = await metric(TOO_FAST);
  let sent = 0;
  const flood = async () => {
    for (let count = 0; count < 500 && !eve.isClosed(); count += 1) eve.send(make(sent++));
    return (await metric(TOO_FAST)) - before;
  };
  await expect.poll(flood, { interval: 10 }).toBe(1);
  expect((await fetch(eve.location, { method: 'DELETE' })).status).toBe(404);
  expect((await fetch(ann.location, { method: 'DELETE' })).status).toBe(200);
});

/** Sends pictures from `sequence` on, until one arrives: the relay may not have joined the two yet. Returns how many it sent. */
async function sendUntilReceived(
  from: { send(packet: Buffer): void },
  to: { received(): number },
  sequence: number,
): Promise<number> {
  const before = to.received();
  let sent = 0;
  const arrived = () => {
    from.send(picture(sequence + sent));
    sent += 1;
    return to.received();
  };
  await expect.poll(arrived).toBeGreaterThan(before);
  return sent;
}

test('a publisher that publishes again replaces itself, and sends to no one twice', async () => {
  const [first, bob] = [await connect('ann', 'twice', 'whip'), await connect('bob', 'twice', 'whep')];
  const told = await followEvents(first.location);
  const second = await connect('ann', 'twice', 'whip');
  await expect.poll(() => told('end')).toEqual({ code: 'REPLACED' });
  const viewers = [await connect('eve', 'twice', 'whep'), await connect('eve', 'twice', 'whep')];
  await expect(connect('eve', 'twice', 'whep')).rejects.toThrow('TOO_MANY_SESSIONS');
  // The one that is replaced goes on sending, and nothing of that arrives.
  const send = (packet: Buffer) => {
    for (const each of [first, second]) each.send(packet);
  };
  const sent = await sendUntilReceived({ send }, bob, 1);
  const before = bob.received();
  send(picture(sent + 1));
  await expect.poll(bob.received).toBeGreaterThan(before);
  expect(bob.received()).toBeLessThanOrEqual(sent + 1);
  for (const each of [second, bob, ...viewers]) await fetch(each.location, { method: 'DELETE' });
});

test('a report that the media library cannot read does no harm, beside two kinds of media', async () => {
  const given = { hasAudio: true };
  const [ann, bob] = [await connect('ann', 'odd', 'whip', given), await connect('bob', 'odd', 'whep', given)];
  // A description of the sender (SDES) that is longer than its packet.
  for (const each of [ann, bob]) each.send(Buffer.from('81ca00020000000501ff0000', 'hex'));
  await sendUntilReceived(ann, bob, 1);
  await expect(connect('eve', 'odd', 'whip')).resolves.toBeDefined();
  for (const each of [ann, bob]) await fetch(each.location, { method: 'DELETE' });
});
