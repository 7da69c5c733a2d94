import { afterEach, expect, test, vi } from 'vitest';
import {
  type ConnectError,
  connect,
  createDevice,
  type RelayConnection,
  type Renewable,
  Session,
} from '../../../sdk/typescript/src/device/index.ts';
import { RELAY_URL, useFalseRelay, type Verdict } from './false-relay.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const device = await createDevice();
const MEDIA = { getTracks: () => [], getAudioTracks: () => [] } as unknown as MediaStream;
const ACCEPTED: Verdict = { status: 201 };
const NOTHING_YET: Verdict = { status: 409, code: 'NOTHING_PUBLISHED' };

function enter() {
  const expiresAt = new Date(Date.now() + 600_000);
  const grant = { token: 'token', expiresAt };
  const session = new Session({
    grant,
    renew: async () => ({ ...grant, expiresAt: new Date(Date.now() + 600_000) }),
  });
  const told: [name: string, detail: object][] = [];
  for (const name of ['moderated', 'hostEnded', 'networkFailure', 'tokenExpired'] as const)
    session.on(name, (detail) => told.push([name, detail]));
  const who = { session, device, room: 'stage', username: 'ann' };
  return { session, told, who };
}

test.each([
  ['REPLACED', undefined, ['moderated', { code: 'REPLACED' }]],
  ['TOKEN_REVOKED', 'kicked', ['moderated', { code: 'kicked' }]],
  ['TOKEN_REVOKED', 'credential_revoked', ['moderated', { code: 'credential_revoked' }]],
  ['BANNED', undefined, ['moderated', { code: 'BANNED' }]],
  ['BUDGET_REACHED', undefined, ['moderated', { code: 'BUDGET_REACHED' }]],
  ['ROOM_CLOSED', 'closed', ['moderated', { code: 'closed' }]],
  ['ROOM_CLOSED', 'ended', ['hostEnded', {}]],
])(
  '%s (%s) from the relay ends the session as %j, and nothing is published again',
  async (code, reason, end) => {
    const relay = useFalseRelay(() => ACCEPTED);
    const { session, told, who } = enter();
    await connect(RELAY_URL, { ...who, publish: MEDIA });
    await relay.tell(1, 'end', { code, reason });
    expect(told).toStrictEqual([end]);
    expect(session.ended).toBe(true);
    await relay.pass(60_000);
    expect(relay.offers).toHaveLength(1);
  },
);

test('another code from the relay makes the device publish again', async () => {
  const relay = useFalseRelay(() => ACCEPTED);
  const { told, who } = enter();
  const connection = await connect(RELAY_URL, { ...who, publish: MEDIA });
  await relay.tell(1, 'end', { code: 'TOO_FAST' });
  await relay.pass(1_000);
  expect(relay.offers.map(({ path }) => path)).toStrictEqual(['whip', 'whip']);
  expect(told).toStrictEqual([]);
  await connection.close();
  expect(relay.left).toStrictEqual([`${RELAY_URL}/sessions/2`]);
});

test('a relay that stops is tried again until the window is over', async () => {
  const relay = useFalseRelay((_, count) => (count === 1 ? ACCEPTED : { status: 503, code: 'DRAINING' }));
  const { told, who } = enter();
  await connect(RELAY_URL, { ...who, publish: MEDIA });
  await relay.tell(1, 'end', { code: 'DRAINING' });
  await relay.pass(29_500);
  expect(told).toStrictEqual([]);
  await relay.pass(5_000);
  expect(told).toStrictEqual([['networkFailure', {}]]);
  const before = relay.offers.length;
  await relay.pass(30_000);
  expect(relay.offers.length).toBe(before);
});

test('an application hears that the relay refuses for good, while the session goes on', async () => {
  const refusal: Verdict = { status: 402, code: 'CREDIT_SPENT' };
  const relay = useFalseRelay((_, count) => (count === 1 ? ACCEPTED : refusal));
  const { told, who } = enter();
  const connection = await connect(RELAY_URL, { ...who, publish: MEDIA });
  const refused: string[] = [];
  connection.on('refused', ({ error }) => refused.push(error.code));
  await relay.tell(1, 'end', { code: 'TOO_FAST' });
  await relay.pass(5_000);
  expect([refused, told]).toStrictEqual([['CREDIT_SPENT'], []]);
  expect(relay.offers).toHaveLength(2);
  await connection.close();
});

test('a watcher of another codec than that of the publisher subscribes again', async () => {
  const relay = useFalseRelay(() => ({ ...ACCEPTED, publisher: 'bob' }));
  const { who, told } = enter();
  const connection = await connect(RELAY_URL, who);
  await relay.tell(1, 'end', { code: 'CODEC_CHANGED' });
  await relay.pass(1_000);
  expect(relay.offers.map(({ path }) => path)).toStrictEqual(['whep', 'whep']);
  expect(told).toStrictEqual([]);
  await connection.close();
});

test('an empty room is asked less and less often, with one certificate, until someone publishes', async () => {
  const relay = useFalseRelay((_, count) => (count < 7 ? NOTHING_YET : { ...ACCEPTED, publisher: 'bob' }));
  const { who } = enter();
  const connection = await connect(RELAY_URL, who);
  await relay.pass(60_000);
  const times = relay.offers.map(({ atMs }) => atMs);
  const waits = times.slice(1).map((at, before) => at - times[before]!);
  expect(waits).toStrictEqual([1_000, 2_000, 4_000, 5_000, 5_000, 5_000]);
  expect(relay.certificates()).toBe(1);
  expect(connection.peers).toHaveLength(1);
  await connection.close();
});

interface Entered {
  readonly session: Session<Renewable>;
  readonly connection: RelayConnection;
}

test.each<[string, (entered: Entered) => unknown]>([
  ['its session is over', ({ session }) => session.moderated('kicked')],
  ['it leaves', ({ connection }) => connection.close()],
])('an empty room is not asked any more once %s', async (_, leave) => {
  const relay = useFalseRelay(() => NOTHING_YET);
  const { session, who } = enter();
  await leave({ session, connection: await connect(RELAY_URL, who) });
  await relay.pass(30_000);
  expect(relay.offers).toHaveLength(1);
});

test('a device that begins to publish in an empty room asks no more: the relay tells it', async () => {
  const relay = useFalseRelay((path) => (path === 'whip' ? ACCEPTED : NOTHING_YET));
  const { who } = enter();
  const connection = await connect(RELAY_URL, who);
  await connection.publish(MEDIA);
  await relay.pass(30_000);
  expect(relay.offers.map(({ path }) => path)).toStrictEqual(['whep', 'whip']);
  await relay.tell(2, 'publishers', { publishers: ['ann', 'bob'] });
  await relay.pass(500);
  expect(relay.offers.map(({ path }) => path)).toStrictEqual(['whep', 'whip', 'whep']);
  await connection.close();
});

test('a refusal of the relay is an error with its code', async () => {
  useFalseRelay(() => ({ status: 402, code: 'NOT_ADMITTED' }));
  const { who } = enter();
  const refused: ConnectError = await connect(RELAY_URL, { ...who, publish: MEDIA }).catch((error) => error);
  expect(refused).toMatchObject({
    name: 'ConnectError',
    code: 'NOT_ADMITTED',
    status: 402,
    retryable: false,
  });
});
