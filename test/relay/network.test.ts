/** What participants and the ledger have when a relay dies, a network is cut, or a token lapses. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RoomService } from '@boxoffice/contract/room_service';
import { TokenService } from '@boxoffice/contract/token_service';
import { expect, inject, test } from 'vitest';
import { bytesOf, SIZE, sees, startRelay, useRelay } from './support.ts';

const meeting = await useRelay();
const { app, chargedIn, meet, moderate } = meeting;

test('a relay that is stopped and started again has its participants back', async () => {
  const first = await startRelay(app, meeting.tenant);
  const { ann, bob } = await meet('restarted', { at: first });
  await first.stop();
  const second = await startRelay(app, meeting.tenant, { PORT: new URL(first.url).port });
  for (const each of [ann, bob]) await expect.poll(() => each.ask('connected')).toBe(1);
  await sees(bob);
  await second.stop();
});

test('a relay that is killed in the middle of an interval reports what it carried, once', async () => {
  const spool = await mkdtemp(join(inject('scratch'), 'relay-'));
  const first = await startRelay(app, meeting.tenant, { spool });
  const { bob } = await meet('killed', { at: first });
  const before = await bytesOf(bob);
  // Longer than the second after which it is on disk.
  await expect.poll(() => bytesOf(bob)).toBeGreaterThan(2 * before);
  const counted = await bytesOf(bob);
  await sleep(1_500);
  first.kill();
  const last = await bytesOf(bob);
  const second = await startRelay(app, meeting.tenant, { spool });
  await expect.poll(async () => (await chargedIn('killed')).size).toBe(2);
  const { egress } = (await chargedIn('killed')).get('bob')!;
  expect(egress).toBeGreaterThanOrEqual(counted * 0.99);
  expect(egress).toBeLessThanOrEqual(last * 1.01);
  const { rows } = await app.service.deps.db.query('select from usage_conflicts');
  expect(rows).toEqual([]);
  await second.stop();
});

test('a killed relay that comes back has its participants back within the window', async () => {
  const first = await startRelay(app, meeting.tenant);
  const { ann, bob } = await meet('crashed', { at: first });
  first.kill();
  const second = await startRelay(app, meeting.tenant, { PORT: new URL(first.url).port });
  for (const each of [ann, bob]) await expect.poll(() => each.ask('connected')).toBe(1);
  await sees(bob);
  expect(await bob.heard('networkFailure')).toEqual([]);
  await second.stop();
});

test('a network that is cut for ten seconds interrupts, and ends nothing', async () => {
  const relay = await startRelay(app, meeting.tenant);
  const { ann, bob } = await meet('cut', { at: relay });
  relay.pause();
  await sleep(10_000);
  relay.resume();
  await sees(bob);
  for (const each of [ann, bob]) expect(await each.heard('networkFailure')).toEqual([]);
  await relay.stop();
});

test('a network that is cut for longer than the window is told as such', async () => {
  const relay = await startRelay(app, meeting.tenant);
  const { ann, bob } = await meet('gone', { at: relay, given: { reconnectSeconds: 2 } });
  relay.pause();
  for (const each of [ann, bob]) await expect.poll(() => each.heard('networkFailure')).toHaveLength(1);
  relay.resume();
  await relay.stop();
});

test('a token that lapses ends the session, on both sides', async () => {
  const [room, seconds] = ['lapsed', 15];
  // Before the token, whose life it would take part of.
  const relay = await startRelay(app, meeting.tenant);
  await moderate(RoomService.method.createRoom, { room });
  const ann = await meeting.open();
  const { token } = (await moderate(TokenService.method.mintClientToken, {
    room,
    username: 'ann',
    role: 'host',
    capabilities: ['publish.audio', 'publish.video'],
    deviceThumbprint: await ann.page.evaluate('participant.thumbprint'),
    lifetime: { seconds: BigInt(seconds), nanos: 0 },
  })) as { token: string };
  await ann.ask('hold', { token, seconds, room, username: 'ann' });
  await ann.ask('connect', { relay: relay.url, size: SIZE });
  const sessions = async () =>
    ((await (await fetch(`${relay.url}/healthz`)).json()) as { sessions: number }).sessions;
  expect(await sessions()).toBe(1);
  await expect.poll(() => ann.heard('tokenExpired')).toHaveLength(1);
  await expect.poll(sessions).toBe(0);
  await relay.stop();
});
