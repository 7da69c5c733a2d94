/** What a relay does with the policy of a room, and with rights that change during a call. Nothing here needs media. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { TokenService } from '@boxoffice/contract/token_service';
import { TrackKind } from '@boxoffice/contract/track_kind';
import { beforeAll, describe, expect, test } from 'vitest';
import { createDevice, type Device } from '../../sdk/typescript/src/device/device.ts';
import { createCredential } from '../support/devices.ts';
import { type TestControl, useControl } from '../support/grpc.ts';
import { useService } from '../support/service.ts';
import { followEvents, sendTo } from './requests.ts';
import { type Relay, startRelay } from './support.ts';

const app = useService();
const controlOf = useControl(app);
let relay: Relay;
let device: Device;
let control: TestControl;
let credential: string;

beforeAll(async () => {
  const tenant = await app.paidTenant();
  control = controlOf(tenant);
  ({ credential } = await createCredential(app, tenant));
  relay = await startRelay(app, tenant);
  device = await createDevice();
  return () => relay.stop();
});

const join = async (room: string) =>
  (await device.join({ url: app.url, credential, username: 'ann', room })).token;

/** Publish, or with another method and path, whatever else needs a proof. */
const send = (token: string, path: string, rest: object = {}) =>
  sendTo({ relay, device, token }, { path, ...rest });

test('a room that requires encryption takes nothing from a device that does not say that it encrypts', async () => {
  await control.call(RoomService.method.createRoom, { room: 'secret', policy: { e2eeRequired: true } });
  const token = await join('secret');
  const refusal = { status: 403, code: 'ENCRYPTION_REQUIRED' };
  expect(await send(token, '/rooms/secret/whip')).toMatchObject(refusal);
  expect(await send(token, '/rooms/secret/whip?encryption=0')).toMatchObject(refusal);
  expect(await send(token, '/rooms/secret/whip?encryption=1')).toMatchObject({ status: 201 });
});

describe('a room that mutes on entry', () => {
  const mute = (location: string | null, body: string) =>
    fetch(`${relay.url}${location}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body,
    });

  test('mutes the sound until the participant turns it on, which a renewal does not undo', async () => {
    await control.call(RoomService.method.createRoom, { room: 'quiet', policy: { muteOnEntry: true } });
    const token = await join('quiet');
    const { location } = await send(token, '/rooms/quiet/whip');
    const newest = await followEvents(relay.url + location);
    await expect.poll(() => newest('mute')).toEqual({ kinds: [], own: ['audio'] });
    expect((await mute(location, '{"muted":["sound"]}')).status).toBe(400);
    expect((await mute(location, '{}')).status).toBe(400);
    expect((await mute(location, '{"muted":[]}')).status).toBe(204);
    await expect.poll(() => newest('mute')).toEqual({ kinds: [], own: [] });
    const renewal = { method: 'PATCH', body: '', type: 'text/plain' };
    expect(await send(await join('quiet'), location!, renewal)).toMatchObject({ status: 204 });
    expect(newest('mute')).toEqual({ kinds: [], own: [] });
  });

  test('changes nothing for those who are in it when it begins to', async () => {
    await control.call(RoomService.method.createRoom, { room: 'changed' });
    const { location } = await send(await join('changed'), '/rooms/changed/whip');
    await control.call(RoomService.method.updateRoomPolicy, {
      room: 'changed',
      policy: { muteOnEntry: true },
      updateMask: { paths: ['mute_on_entry'] },
    });
    const token = await join('changed');
    expect(await send(token, location!, { method: 'PATCH', body: '', type: 'text/plain' })).toMatchObject({
      status: 204,
    });
    const newest = await followEvents(relay.url + location);
    await expect.poll(() => newest('mute')).toEqual({ kinds: [], own: [] });
    const later = await followEvents(relay.url + (await send(token, '/rooms/changed/whip')).location);
    await expect.poll(() => later('mute')).toEqual({ kinds: [], own: ['audio'] });
  });
});

test('the events of a session are about it alone', async () => {
  const token = await join('apart');
  const [first, second] = [await send(token, '/rooms/apart/whip'), await send(token, '/rooms/apart/whip')];
  const [ofFirst, ofSecond] = [
    await followEvents(relay.url + first.location),
    await followEvents(relay.url + second.location),
  ];
  const headers = { 'content-type': 'application/json' };
  const patch = { method: 'PATCH', headers, body: '{"muted":["audio"]}' };
  await fetch(`${relay.url}${first.location}`, patch);
  await expect.poll(() => ofFirst('mute')).toEqual({ kinds: [], own: ['audio'] });
  await fetch(`${relay.url}${first.location}`, { method: 'DELETE' });
  await expect.poll(() => ofFirst('end')).toEqual({ code: 'LEFT' });
  // Its own last event comes after what it might have heard of the other.
  await fetch(`${relay.url}${second.location}`, { ...patch, body: '{"muted":["video"]}' });
  await expect.poll(() => ofSecond('mute')).toEqual({ kinds: [], own: ['video'] });
  expect(ofSecond('end')).toBeUndefined();
});

describe('rights that change during a call', () => {
  const mint = async (room: string, capabilities: readonly string[], role = 'audience') => {
    const deviceThumbprint = device.thumbprint;
    const request = { room, username: 'ann', role, deviceThumbprint, capabilities: [...capabilities] };
    return (await control.call(TokenService.method.mintClientToken, request)).token;
  };
  const renew = (token: string, location: string) =>
    send(token, location, { method: 'PATCH', body: '', type: 'text/plain' });

  test('are those of the newest token', async () => {
    await control.call(RoomService.method.createRoom, { room: 'rights' });
    const { location } = await send(await mint('rights', ['publish.audio']), '/rooms/rights/whip');
    const newest = await followEvents(relay.url + location);
    await expect.poll(() => newest('mute')).toEqual({ kinds: [], own: [] });
    await renew(await mint('rights', ['chat.send']), location!);
    await expect.poll(() => newest('mute')).toEqual({ kinds: ['audio'], own: [] });
    await renew(await mint('rights', ['publish.audio']), location!);
    await expect.poll(() => newest('mute')).toEqual({ kinds: [], own: [] });
  });

  test('change the price with the role', async () => {
    await control.call(RoomService.method.createRoom, { room: 'roles' });
    const allowed = ['publish.audio'];
    const { location } = await send(await mint('roles', allowed, 'host'), '/rooms/roles/whip');
    // A record is of a second at least.
    await sleep(1_100);
    await renew(await mint('roles', allowed), location!);
    await sleep(1_100);
    await fetch(`${relay.url}${location}`, { method: 'DELETE' });
    const roles = async () => {
      const text = `select role from usage_records where room = 'roles' order by posting_seq, line`;
      return (await app.service.deps.db.query<{ role: string }>(text)).rows.map(({ role }) => role);
    };
    await expect.poll(roles).toEqual(['h', 'a']);
  });

  test('and that a moderator gives back are asked for at once', async () => {
    await control.call(RoomService.method.createRoom, { room: 'released' });
    const { location } = await send(await mint('released', ['publish.audio']), '/rooms/released/whip');
    const newest = await followEvents(relay.url + location);
    const muting = { room: 'released', username: 'ann', tracks: [TrackKind.AUDIO] };
    await control.call(ModerationService.method.forceMute, muting as never);
    await expect.poll(() => newest('mute')).toEqual({ kinds: ['audio'], own: [] });
    await renew(await mint('released', ['publish.audio']), location!);
    await control.call(ModerationService.method.releaseMute, muting as never);
    await expect.poll(() => newest('renew')).toEqual({});
    expect(newest('mute')).toEqual({ kinds: ['audio'], own: [] });
    await renew(await mint('released', ['publish.audio']), location!);
    await expect.poll(() => newest('mute')).toEqual({ kinds: [], own: [] });
  });
});
