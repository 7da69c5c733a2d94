/** What each rule of a room does at a mint and at a join. What relays do with it: `test/relay/policy.test.ts`. */
import { readFileSync } from 'node:fs';
import { RoomPolicySchema } from '@boxoffice/contract/room';
import { RoomService } from '@boxoffice/contract/room_service';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { decodeJwt } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import { mint } from '../../doors/grpc/mint.ts';
import { createCredential, join } from '../../support/devices.ts';
import { failureOf, type TestControl, useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';

const app = useService();
const controlOf = useControl(app);
let control: TestControl;
let credential: string;

beforeAll(async () => {
  const tenant = await app.paidTenant();
  control = controlOf(tenant);
  ({ credential } = await createCredential(app, tenant, { publish: ['audio', 'video'] }));
});

type Policy = Omit<MessageInitShape<typeof RoomPolicySchema>, '$typeName'>;

const createRoom = (room: string, policy: Policy) =>
  control.call(RoomService.method.createRoom, { room, policy: create(RoomPolicySchema, policy) });

/** The claims of a token, or why there is none. */
const minted = (room: string, fields: object = {}) =>
  mint(control, { room, ...fields }).then(
    ({ token }) => decodeJwt(token),
    (error) => failureOf(Promise.reject(error)).then(({ reason }) => reason),
  );
const joined = async (room: string, username: string) => {
  const answer = await join(app, credential, { room, username });
  return answer.status === 200 ? decodeJwt(answer.json.token) : `${answer.status} ${answer.text}`;
};

test('max_participants: who would be one too many is refused', async () => {
  await createRoom('max', { maxParticipants: 1 });
  expect(await minted('max')).toMatchObject({ sub: 'ann' });
  expect(await minted('max', { username: 'bob' })).toBe('ROOM_FULL');
  expect(await joined('max', 'bob')).toBe('409 room is full');
});

test('locked: who is not in the room is refused', async () => {
  await createRoom('locked', { locked: true });
  expect(await minted('locked')).toBe('ROOM_LOCKED');
  expect(await joined('locked', 'bob')).toBe('409 room is locked');
});

test('age_verification_required: only a back end that vouches for the age gets a token', async () => {
  await createRoom('adults', { ageVerificationRequired: true });
  expect(await minted('adults')).toBe('AGE_VERIFICATION_REQUIRED');
  expect(await minted('adults', { ageVerified: true })).toMatchObject({ sub: 'ann' });
  expect(await joined('adults', 'bob')).toBe('409 room requires age verification');
});

test('host_capabilities and audience_capabilities: what a token without a request of its own may do', async () => {
  await createRoom('rights', { hostCapabilities: ['room.end'], audienceCapabilities: ['subscribe.video'] });
  expect(await minted('rights', { role: 'host' })).toMatchObject({ cap: ['room.end'] });
  expect(await minted('rights', { username: 'bob' })).toMatchObject({ cap: ['subscribe.video'] });
});

test('audience_capabilities: a join loses what is not among them, and gains nothing', async () => {
  const audienceCapabilities = ['publish.audio', 'publish.screen', 'moderate.kick', 'subscribe.video'];
  await createRoom('listening', { audienceCapabilities });
  expect(await joined('listening', 'bob')).toMatchObject({ cap: ['publish.audio', 'subscribe.video'] });
  await control.call(RoomService.method.updateRoomPolicy, {
    room: 'listening',
    policy: create(RoomPolicySchema, { audienceCapabilities: ['subscribe.video'] }),
    updateMask: { paths: ['audience_capabilities'] },
  });
  expect(await joined('listening', 'bob')).toMatchObject({ cap: ['subscribe.video'] });
});

test('e2ee_required and mute_on_entry: each token tells relays and devices', async () => {
  await createRoom('secret', { e2eeRequired: true });
  await createRoom('quiet', { muteOnEntry: true });
  await createRoom('plain', {});
  for (const enter of [minted, (room: string) => joined(room, 'bob')]) {
    expect(await enter('secret')).toHaveProperty('policy', { e2ee_required: true });
    expect(await enter('quiet')).toHaveProperty('policy', { mute_on_entry: true });
    expect(await enter('plain')).not.toHaveProperty('policy');
  }
});

test('docs/control-plane.md says of each rule where it is enforced', () => {
  const page = readFileSync(new URL('../../../docs/control-plane.md', import.meta.url), 'utf8');
  const table = /### The policy of a room\n(.*?)\n##/s.exec(page)?.[1] ?? '';
  const missing = RoomPolicySchema.fields.filter(({ name }) => !table.includes(`| \`${name}\``));
  expect(missing.map(({ name }) => name)).toEqual([]);
});
