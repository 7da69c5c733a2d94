/** The whole way: browsers join, a relay carries their media, the ledger is charged, and moderators end it. */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { TrackKind } from '@boxoffice/contract/track_kind';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { createCredential } from '../support/devices.ts';
import { useControl } from '../support/grpc.ts';
import { startSdkPage } from '../support/sdk-page.ts';
import { type TestTenant, useService } from '../support/service.ts';
import { openParticipant, type ParticipantPage, type Relay, startRelay } from './support.ts';

const site = await startSdkPage(new URL('participant-page.js', import.meta.url));
afterAll(() => site.close());
const app = useService({ joinOrigins: [site.origin] });
const control = useControl(app);
const browser = useBrowser(app);
const SIZE = [640, 360] as const;

let tenant: TestTenant;
let credential: string;
let relay: Relay;

beforeAll(async () => {
  tenant = await app.paidTenant();
  ({ credential } = await createCredential(app, tenant, { publish: ['audio', 'video'] }));
  relay = await startRelay(app, tenant);
  return () => relay.stop();
});

/** A participant who has a token for the room. */
async function enter(username: string, room: string): Promise<ParticipantPage & { readonly token: string }> {
  const participant = await openParticipant(browser, site);
  const token = await participant.ask<string>('join', { url: app.url, credential, username, room });
  return { ...participant, token };
}

const picturesOf = async (participant: ParticipantPage) =>
  (await participant.stats()).filter(
    ({ kind, direction }) => kind === 'video' && direction === 'inbound-rtp',
  );

/** Ann publishes, and Bob sees her. */
async function meet(room: string, { url } = relay) {
  const [ann, bob] = [await enter('ann', room), await enter('bob', room)];
  await ann.ask('connect', { relay: url, size: SIZE });
  await bob.ask('connect', { relay: url });
  await expect.poll(async () => (await picturesOf(bob))[0]?.frames ?? 0).toBeGreaterThan(20);
  return { ann, bob };
}

interface Charged {
  readonly participant: string;
  readonly tier: string;
  readonly egress: number;
  readonly ingress: number;
}

/** What the ledger has of a room, for each participant. */
async function chargedIn(room: string): Promise<Map<string, Charged>> {
  const { rows } = await app.service.deps.db.query<Charged>(
    `select participant, max(tier) as tier, sum(egress_bytes)::float8 as egress, sum(ingress_bytes)::float8 as ingress
       from usage_records where room = $1 group by participant`,
    [room],
  );
  return new Map(rows.map((row) => [row.participant, row]));
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0);

test('a picture reaches the other browser, and both are charged for what their browsers counted', async () => {
  const { ann, bob } = await meet('counted');
  const [sent, received] = [await ann.stats(), await bob.stats()];
  expect((await picturesOf(bob))[0]).toMatchObject({ width: SIZE[0] });
  await Promise.all([ann.ask('close'), bob.ask('close')]);
  await expect.poll(async () => (await chargedIn('counted')).size, { timeout: 30_000 }).toBe(2);
  const charged = await chargedIn('counted');
  const [ofAnn, ofBob] = [charged.get('ann')!, charged.get('bob')!];
  // What was under way between the count and the end is charged too.
  const [out, in_] = [sumOf(sent.map(({ bytes }) => bytes)), sumOf(received.map(({ bytes }) => bytes))];
  expect(ofAnn.ingress).toBeGreaterThanOrEqual(out * 0.99);
  expect(ofBob.egress).toBeGreaterThanOrEqual(in_ * 0.99);
  expect(ofBob).toMatchObject({ ingress: 0, tier: 'h' });
  expect(ofAnn).toMatchObject({ egress: 0, tier: 'a' });
});

test('half-way through a token the device shows the relay a new one, and the picture goes on', async () => {
  const { bob } = await meet('renewed');
  const renewal = bob.page.waitForResponse((answer) => answer.request().method() === 'PATCH');
  await bob.page.clock.fastForward('08:00');
  expect((await renewal).status()).toBe(204);
  const { frames } = (await picturesOf(bob))[0]!;
  await expect.poll(async () => (await picturesOf(bob))[0]!.frames).toBeGreaterThan(frames + 20);
  expect(await bob.heard('tokenExpired')).toEqual([]);
});

test('a relay that is started again has its participants back', async () => {
  const first = await startRelay(app, tenant);
  const { ann, bob } = await meet('restarted', first);
  await first.stop();
  const second = await startRelay(app, tenant, { PORT: new URL(first.url).port });
  for (const each of [ann, bob]) await expect.poll(() => each.ask('connected')).toBe(1);
  await expect.poll(async () => (await picturesOf(bob))[0]?.frames ?? 0).toBeGreaterThan(20);
  expect(await bob.heard('left')).toMatchObject([{ username: 'ann' }]);
  await second.stop();
});

describe('a moderator', () => {
  test.each([
    ['kicks', 'kicked', ModerationService.method.kickParticipant, { username: 'bob' }],
    ['bans', 'banned', ModerationService.method.banSubject, { subject: { case: 'username', value: 'bob' } }],
  ] as const)('%s a user, whose page hears why', async (_what, code, method, subject) => {
    const { bob } = await meet(code);
    await control(tenant).call(method, { room: code, ...subject } as never);
    await expect.poll(() => bob.heard('moderated')).toMatchObject([{ code }]);
    expect(await bob.ask('refusal', { relay: relay.url, token: bob.token })).toMatchObject({
      status: 403,
      reason: code,
    });
  });

  test('mutes the sound alone, and the picture goes on', async () => {
    const { ann, bob } = await meet('muted');
    const muting = { room: 'muted', username: 'ann', tracks: [TrackKind.AUDIO] };
    await control(tenant).call(ModerationService.method.forceMute, muting as never);
    await expect.poll(() => ann.heard('muted')).toMatchObject([{ kinds: ['audio'] }]);
    const soundIn = async () =>
      sumOf((await bob.stats()).filter(({ kind }) => kind === 'audio').map(({ bytes }) => bytes));
    const framesIn = async () => (await picturesOf(bob))[0]!.frames;
    /** The sound that arrives in the time of twenty pictures. What was under way when it was muted still arrives. */
    const soundOfTwenty = async () => {
      const [sound, frames] = [await soundIn(), await framesIn()];
      await expect.poll(framesIn).toBeGreaterThan(frames + 20);
      return (await soundIn()) - sound;
    };
    await expect.poll(soundOfTwenty).toBe(0);
  });

  test('ends the room, which is not called moderation', async () => {
    const { ann, bob } = await meet('ended');
    await control(tenant).call(RoomService.method.endRoom, { room: 'ended' });
    for (const each of [ann, bob]) await expect.poll(() => each.heard('hostEnded')).toHaveLength(1);
  });
});

describe('a thief', () => {
  test('who has copied a token is refused on another device', async () => {
    const [bob, eve] = [await enter('bob', 'stolen'), await enter('eve', 'stolen')];
    const refusal = await eve.ask('refusal', { relay: relay.url, size: SIZE, token: bob.token });
    expect(refusal).toMatchObject({ status: 401, code: 'PROOF_OTHER_DEVICE' });
  });
});
