/** What a token is worth to those who copied it, or who sit between a device and its relay. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openMeeting, PACKET_BYTES, picture } from './media.ts';
import { metricOf } from './requests.ts';
import { SIZE, startRelay, useRelay } from './support.ts';

const meeting = await useRelay();
const { enter } = meeting;

test('a copied token is refused on another device', async () => {
  const [bob, eve] = [await enter('bob', 'stolen'), await enter('eve', 'stolen')];
  const refusal = await eve.ask('refusal', { relay: meeting.relay.url, size: SIZE, token: bob.token });
  expect(refusal).toMatchObject({ status: 401, code: 'PROOF_OTHER_DEVICE' });
});

/** A relay of a thief, which hands on what it gets to the real one. */
async function startThief(to: string): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const onward = request(`${to}${url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a proof for one relay is refused by another', async () => {
  const bob = await enter('bob', 'between');
  const refusal = await bob.ask('refusal', { relay: await startThief(meeting.relay.url), size: SIZE });
  expect(refusal).toMatchObject({ status: 401, code: 'PROOF_OTHER_URL' });
});

test('a certificate other than that of the offer carries nothing, from a browser', async () => {
  const eve = await enter('eve', 'swapped');
  expect(await eve.ask('swap', { relay: meeting.relay.url })).toBe(201);
  await expect.poll(() => eve.heard('end')).toHaveLength(1);
  expect((await meeting.chargedIn('swapped')).get('eve')?.ingress ?? 0).toBe(0);
});

test('a certificate other than that of the offer takes no place, gets nothing, and sends nothing', async () => {
  const relay = await startRelay(meeting.app, meeting.tenant);
  onTestFinished(() => relay.stop());
  const { connect, swap } = await openMeeting(meeting.app, meeting.tenant, relay);
  const [ann, bob] = [await connect('ann', 'thieves', 'whip'), await connect('bob', 'thieves', 'whep')];
  // With tokens of their own, for the place of Ann and for her media.
  const thieves = [await swap('ann', 'thieves', 'whip'), await swap('eve', 'thieves', 'whep')];
  let sent = 0;
  const goOn = async () => {
    ann.send(picture(sent++));
    for (const { send } of thieves) send(picture(sent));
    return (await fetch(`${relay.url}/healthz`)).json();
  };
  // Those of Ann and Bob stay.
  await expect.poll(goOn).toMatchObject({ sessions: 2 });
  const carried = (direction: string) => metricOf(relay, `relay_rtp_bytes_total{direction="${direction}"}`);
  await expect.poll(() => carried('in')).toBe(sent * PACKET_BYTES);
  await expect.poll(async () => (await carried('out')) - bob.received() * PACKET_BYTES).toBe(0);
  expect(bob.received()).toBeGreaterThan(0);
  expect(thieves.map(({ received }) => received())).toStrictEqual([0, 0]);
});
