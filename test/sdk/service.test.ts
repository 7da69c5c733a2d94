/** Both halves of the SDK with a real service between them. */
import { RoomService } from '@boxoffice/contract/room_service';
import { expect, test } from 'vitest';
import { createDevice, JoinError } from '../../sdk/typescript/src/device/index.ts';
import { createTokenVerifier } from '../../sdk/typescript/src/relay/index.ts';
import { ROLE_CAPABILITIES } from '../../src/access/rights/capabilities.ts';
import { put, wanted } from '../control/budgets/support.ts';
import { mint } from '../doors/grpc/mint.ts';
import { createCredential, endRoom, newDevice, spendAll } from '../support/devices.ts';
import { useControl } from '../support/grpc.ts';
import { useService } from '../support/service.ts';
import { codeOf, FINGERPRINT } from './relay/support.ts';

const RELAY_URL = 'https://relay.example/connect';
const app = useService();
const controlOf = useControl(app);

const createRelay = () =>
  createTokenVerifier({
    issuer: 'http://service.test',
    audience: 'relay:service.test',
    jwksUrl: `${app.url}/.well-known/jwks.json`,
  });

test('a device joins, and a relay admits it, but no other device with its token', async () => {
  const { tenant, credential } = await newDevice(app, { publish: ['audio'] });
  const relay = createRelay();
  const present = async (presenter: Awaited<ReturnType<typeof createDevice>>) => {
    const challenge = relay.challenge();
    const connection = { url: RELAY_URL, method: 'CONNECT', dtlsFingerprint: FINGERPRINT };
    const proof = await presenter.proof({ token: grant.token, challenge, ...connection });
    return await relay.verify({ token: grant.token, proof, challenge, ...connection });
  };

  const [device, thief] = [await createDevice(), await createDevice()];
  const grant = await device.join({ url: app.url, credential, username: 'Ann', room: 'lobby' });
  expect(await present(device)).toMatchObject({
    tenant: tenant.id,
    username: 'ann',
    room: 'lobby',
    capabilities: expect.arrayContaining(['publish.audio']),
    deviceThumbprint: device.thumbprint,
    expiresAt: grant.expiresAt,
  });
  expect(await codeOf(present(thief))).toBe('PROOF_OTHER_DEVICE');
});

test('a relay admits a device with a token that a back end minted for it', async () => {
  const tenant = await app.paidTenant();
  const control = controlOf(tenant);
  await control.call(RoomService.method.createRoom, { room: 'lobby' });
  const device = await createDevice();
  const { token } = await mint(control, { deviceThumbprint: device.thumbprint, role: 'host' });
  const relay = createRelay();
  const challenge = relay.challenge();
  const connection = { url: RELAY_URL, method: 'CONNECT', dtlsFingerprint: FINGERPRINT };
  const proof = await device.proof({ token, challenge, ...connection });
  expect(await relay.verify({ token, proof, challenge, ...connection })).toMatchObject({
    tenant: tenant.id,
    username: 'ann',
    role: 'host',
    rank: 80,
    capabilities: ROLE_CAPABILITIES.host,
    mintedBy: tenant.keyId,
  });
});

test('a refusal of the service becomes an error with a code', async () => {
  const { tenant, credential } = await newDevice(app);
  const device = await createDevice();
  const codeOfJoin = async (changes: { credential?: string; username?: string; room?: string }) => {
    const request = { url: app.url, credential, username: 'ann', room: 'lobby', ...changes };
    const error = await device.join(request).catch((thrown: unknown) => thrown);
    return error instanceof JoinError ? error.code : error;
  };

  expect(await codeOfJoin({ credential: 'dev_0123456789abcdef_unknown' })).toBe('UNAUTHENTICATED');
  expect(await codeOfJoin({ username: '' })).toBe('INVALID');
  const listener = await createCredential(app, tenant, { publish: [] });
  expect(await codeOfJoin({ credential: listener.credential })).toBe('DENIED');
  await device.join({ url: app.url, credential, username: 'ann', room: 'over' });
  await endRoom(app, tenant, 'over');
  expect(await codeOfJoin({ room: 'over' })).toBe('PRECONDITION_FAILED');
  await put(app, tenant, wanted({ room: 'limited', max: 0n }));
  expect(await codeOfJoin({ room: 'limited' })).toBe('BUDGET_REACHED');
  await spendAll(app, tenant);
  expect(await codeOfJoin({})).toBe('NO_CREDIT');
});
