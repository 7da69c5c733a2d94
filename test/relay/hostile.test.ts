/** Bad input to a relay: each gets a clear error, and the others go on. Nothing here needs media. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createDevice, type Device } from '../../sdk/typescript/src/device/device.ts';
import { readBlocks } from '../docs/blocks.ts';
import { createCredential } from '../support/devices.ts';
import { type TestTenant, useService } from '../support/service.ts';
import { challengeFrom, FINGERPRINT, offer, type Sent, sendTo } from './requests.ts';
import { type Relay, startRelay } from './support.ts';

const app = useService();
let relay: Relay;
let tenant: TestTenant;
let device: Device;
let token: string;

beforeAll(async () => {
  tenant = await app.paidTenant();
  const { credential } = await createCredential(app, tenant);
  relay = await startRelay(app, tenant);
  device = await createDevice();
  const joined = await device.join({ url: app.url, credential, username: 'ann', room: 'lobby' });
  ({ token } = joined);
  return () => relay.stop();
});

const send = (sent: Sent = {}) => sendTo({ relay, device, token }, sent);
const challengeOf = () => challengeFrom(relay);

const sessions = async () =>
  ((await (await fetch(`${relay.url}/healthz`)).json()) as { sessions: number }).sessions;

test('without a token or a proof, the answer has a challenge', async () => {
  const post = (headers: Record<string, string>) =>
    fetch(`${relay.url}/rooms/lobby/whip`, { method: 'POST', headers, body: offer() });
  const bare = await post({});
  expect([bare.status, await bare.json()]).toMatchObject([401, { error: { code: 'TOKEN_MISSING' } }]);
  const unproved = await post({ authorization: `DPoP ${token}` });
  expect([unproved.status, await unproved.json()]).toMatchObject([401, { error: { code: 'PROOF_MISSING' } }]);
  expect(unproved.headers.get('www-authenticate')).toBe('DPoP error="use_dpop_nonce"');
  expect(unproved.headers.get('dpop-nonce')).toMatch(/^[\w-]{43}$/);
});

test('pages of any origin may send what the wire has, and read it', async () => {
  const { headers } = await fetch(`${relay.url}/rooms/lobby/whip`, { method: 'OPTIONS' });
  const listed = (name: string) => headers.get(`access-control-${name}`)!.toLowerCase().split(/, */);
  expect(listed('allow-origin')).toEqual(['*']);
  expect(listed('allow-methods')).toEqual(expect.arrayContaining(['patch', 'delete']));
  expect(listed('allow-headers')).toEqual(expect.arrayContaining(['authorization', 'content-type', 'dpop']));
  const [shown] = readBlocks('docs/relays.md').filter(({ text }) => text.startsWith('Access-Control-'));
  for (const line of shown!.text.trim().split('\n')) {
    const [name = '', value] = line.toLowerCase().split(': ');
    expect(listed(name.replace('access-control-', '')).sort(), name).toEqual(value!.split(', ').sort());
  }
  const read = ['dpop-nonce', 'location', 'publisher', 'www-authenticate'];
  expect(listed('expose-headers')).toEqual(expect.arrayContaining(read));
});

test('what does not exist is refused like everything else', async () => {
  const answer = await fetch(`${relay.url}/rooms/lobby/whip`);
  expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'NOT_FOUND' } }]);
});

describe('a proof', () => {
  test('for another relay is refused', async () => {
    const answer = await send({ proofOf: 'https://relay.example/rooms/lobby/whip' });
    expect(answer).toMatchObject({ status: 401, code: 'PROOF_OTHER_URL' });
  });

  test('of another certificate than that of the offer is refused', async () => {
    const answer = await send({ fingerprint: FINGERPRINT.replace('00', 'ff') });
    expect(answer).toMatchObject({ status: 401, code: 'DTLS_OTHER_CERTIFICATE' });
  });

  test('works once, and an invented challenge never', async () => {
    const challenge = await challengeOf();
    const { status, location } = await send({ challenge });
    expect(status).toBe(201);
    expect(await send({ challenge })).toMatchObject({ status: 401, code: 'CHALLENGE_UNUSABLE' });
    expect(await send({ challenge: 'x'.repeat(43) })).toMatchObject({
      status: 401,
      code: 'CHALLENGE_UNUSABLE',
    });
    await fetch(`${relay.url}${location}`, { method: 'DELETE' });
  });
});

test.each([
  ['nothing', '', 400, 'OFFER_INVALID'],
  ['what is no SDP', 'v=0 garbage', 400, 'OFFER_INVALID'],
  [
    'two fingerprints',
    offer(`a=fingerprint:sha-256 ${FINGERPRINT.replace('00', 'ff')}`),
    400,
    'OFFER_INVALID',
  ],
  [
    'too many candidates',
    offer('a=candidate:1 1 UDP 1 192.0.2.1 9 typ host\r\n'.repeat(60)),
    400,
    'OFFER_INVALID',
  ],
  [
    'ten thousand candidates',
    offer('a=candidate:1 1 UDP 1 192.0.2.1 9 typ host\r\n'.repeat(10_000)),
    413,
    'BODY_TOO_LARGE',
  ],
  ['no codec that is carried', offer().replaceAll('opus', 'G722'), 406, 'CODEC_NOT_SUPPORTED'],
  ['credentials that the library refuses', offer().replace(/a=ice-pwd.*\r\n/, ''), 400, 'OFFER_INVALID'],
])('an offer with %s is refused, and leaves no session', async (_, body, status, code) => {
  const before = await sessions();
  expect(await send({ body })).toMatchObject({ status, code });
  expect(await sessions()).toBe(before);
});

test('a token is for its room, and for what it allows', async () => {
  expect(await send({ path: '/rooms/attic/whip' })).toMatchObject({ status: 403, code: 'OTHER_ROOM' });
  const screen = offer()
    .replace('m=audio', 'm=video')
    .replace('opus/48000/2', 'VP8/90000\r\na=content:slides');
  expect(await send({ body: screen })).toMatchObject({ status: 403, code: 'NOT_ALLOWED' });
});

test('a subscription to a room in which nothing is published is told so', async () => {
  const body = offer().replace('a=sendonly', 'a=recvonly');
  const path = '/rooms/lobby/whep';
  expect(await send({ path, body })).toMatchObject({ status: 409, code: 'NOTHING_PUBLISHED' });
});

test('a room lasts as long as a session, so that its participants find each other again', async () => {
  const rooms = async () => ((await (await fetch(`${relay.url}/healthz`)).json()) as { rooms: number }).rooms;
  const end = ({ location }: { location: string | null }) =>
    fetch(`${relay.url}${location}`, { method: 'DELETE' });
  const [first, second] = [await send(), await send()];
  expect(second.status).toBe(201);
  await end(first);
  expect(await rooms()).toBe(1);
  await end(second);
  expect(await rooms()).toBe(0);
});

test('a request that breaks off is not a failure of the relay', async () => {
  const cut = connect(Number(new URL(relay.url).port), '127.0.0.1');
  const head = 'POST /rooms/lobby/whip HTTP/1.1\r\nhost: relay\r\ncontent-length: 9\r\n\r\n';
  cut.write(`${head}v=0`, () => cut.destroy());
  await once(cut, 'close');
  expect(await send({ body: 'v=0' })).toMatchObject({ status: 400, code: 'OFFER_INVALID' });
});

test('a relay that stops waits for no connection', async () => {
  const stopped = await startRelay(app, await app.paidTenant());
  const port = Number(new URL(stopped.url).port);
  const open = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')] as const;
  // It may reset them.
  for (const each of open) each.on('error', () => undefined);
  open[0].write('POST /rooms/lobby/whip HTTP/1.1\r\nhost: relay\r\ncontent-length: 9\r\n\r\nv=0');
  await Promise.all(open.map((each) => once(each, 'connect')));
  const begun = performance.now();
  await stopped.stop();
  expect(performance.now() - begun).toBeLessThan(8_000);
});

test('a relay whose key the service refuses says so', async () => {
  const own = await startRelay(app, tenant, { RELAY_KEY: tenant.key });
  onTestFinished(() => own.stop());
  const health = async () => {
    const answer = await fetch(`${own.url}/healthz`);
    return [answer.status, ((await answer.json()) as { status: string }).status];
  };
  await expect.poll(health).toEqual([503, expect.stringContaining('refuses RELAY_KEY')]);
});

test('the connections of an address are bounded', async () => {
  const own = await startRelay(app, tenant, { ADDRESS_CONNECTIONS_MAX: '5' });
  onTestFinished(() => own.stop());
  const opened = Array.from({ length: 20 }, () => connect(Number(new URL(own.url).port), '127.0.0.1'));
  for (const each of opened) each.on('error', () => undefined).resume();
  await expect.poll(() => opened.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(15);
  for (const each of opened) each.destroy();
  const healthy = () =>
    fetch(`${own.url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(healthy).toBe(true);
});

test('idle connections are bounded, and make room for others', async () => {
  const full = await startRelay(app, await app.paidTenant(), { CONNECTIONS_MAX: '20' });
  onTestFinished(() => full.stop());
  const idle = Array.from({ length: 40 }, () => connect(Number(new URL(full.url).port), '127.0.0.1'));
  for (const each of idle) each.on('error', () => undefined).resume();
  for (const each of idle) each.write('GET /healthz HTTP/1.1\r\nhost: relay\r\n\r\n');
  await expect.poll(() => idle.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(20);
  await expect
    .poll(() =>
      fetch(`${full.url}/healthz`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  for (const each of idle) each.destroy();
});

test('a request that does not end is ended', async () => {
  const slow = connect(Number(new URL(relay.url).port), '127.0.0.1').resume();
  slow.write('POST /rooms/lobby/whip HTTP/1.1\r\nhost: relay\r\ncontent-length: 9\r\n\r\nv=0');
  await once(slow, 'close', { signal: AbortSignal.timeout(25_000) });
});

test('a session that is unknown has no events, no renewal and no end', async () => {
  for (const [method, path] of [
    ['GET', '/sessions/unknown/events'],
    ['PATCH', '/sessions/unknown'],
    ['DELETE', '/sessions/unknown'],
  ]) {
    const answer = await fetch(`${relay.url}${path}`, { method: method! });
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'NO_SESSION' } }]);
  }
});

test('a session takes a bounded number of candidates, and no large fragment', async () => {
  const { location } = await send();
  const trickle = (lines: number, candidate = '1 1 UDP 1 192.0.2.1 9 typ host') =>
    fetch(`${relay.url}${location}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/trickle-ice-sdpfrag' },
      body: `a=mid:0\r\n${`a=candidate:${candidate}\r\n`.repeat(lines)}`,
    });
  expect((await trickle(1, 'garbage')).status).toBe(400);
  expect((await trickle(30)).status).toBe(204);
  expect((await trickle(30)).status).toBe(400);
  expect((await trickle(10_000)).status).toBe(413);
  await fetch(`${relay.url}${location}`, { method: 'DELETE' });
});

test.runIf(!process.env.RELAY_COMMAND)('the metrics tell of sessions and refusals by code', async () => {
  const { location } = await send();
  const text = await (await fetch(`${relay.url}/metrics`)).text();
  expect(text).toMatch(/^relay_sessions 1$/m);
  expect(text).toMatch(/^relay_refusals_total\{code="OFFER_INVALID"\} [1-9]/m);
  expect(text).not.toContain(token);
  await fetch(`${relay.url}${location}`, { method: 'DELETE' });
  expect(await (await fetch(`${relay.url}/metrics`)).text()).toMatch(
    /^relay_sessions_ended_total\{code="LEFT"\} [1-9]/m,
  );
});

test.each([
  ['a proxy that is trusted', { TRUST_PROXY: '10.0.0.0/8, 127.0.0.1' }, 200],
  ['no one', {}, 404],
])('the address of a participant comes from %s, and has a share of the sessions', async (_, trust, other) => {
  const own = await startRelay(app, tenant, { ...trust, ADDRESS_SESSIONS_MAX: '1' });
  onTestFinished(() => own.stop());
  const begin = (from: string) => sendTo({ relay: own, device, token }, { from });
  const end = async ({ location }: { location: string | null }) =>
    (await fetch(own.url + location, { method: 'DELETE' })).status;
  const [first, second, third] = [
    await begin('192.0.2.1'),
    await begin('192.0.2.1'),
    await begin('192.0.2.2'),
  ];
  for (const each of [first, second, third]) expect(each).toMatchObject({ status: 201 });
  expect([await end(first), await end(second), await end(third)]).toStrictEqual([404, other, 200]);
});
