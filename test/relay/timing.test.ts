/** Sessions that are ended while they begin: a relay in the process of the test, so that the moment is certain. */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { readOffer } from '../../relay/src/offer.ts';
import { Relay } from '../../relay/src/relay.ts';
import { readSettings } from '../../relay/src/settings.ts';
import { createDevice } from '../../sdk/typescript/src/device/device.ts';
import { createCredential } from '../support/devices.ts';
import { type TestControl, useControl } from '../support/grpc.ts';
import { type TestTenant, useService } from '../support/service.ts';
import { FINGERPRINT, offer } from './requests.ts';

const app = useService();
const controlOf = useControl(app);
const URL = 'http://relay.example/rooms/hall/whip';
let tenant: TestTenant;
let control: TestControl;
let relay: Relay;

beforeAll(async () => {
  tenant = await app.paidTenant();
  control = controlOf(tenant);
  relay = await openRelay('timing');
});

/** A relay with a spool of this name. */
const openRelay = (spool: string, service = app.url) =>
  Relay.open(
    readSettings({
      BOXOFFICE_URL: service,
      ISSUER: app.service.deps.config.publicUrl,
      TENANT: tenant.id,
      RELAY_KEY: tenant.relayKey,
      UDP_ADDRESS: '127.0.0.1',
      SPOOL: `${inject('scratch')}/relay-${spool}`,
    }),
  );

/** What a participant is admitted with, each time that it asks. */
async function newcomer(username: string) {
  const device = await createDevice();
  const { credential } = await createCredential(app, tenant);
  const { token } = await device.join({ url: app.url, credential, username, room: 'hall' });
  const address = '192.0.2.1';
  const claim = { token, url: URL, method: 'POST', dtlsFingerprint: FINGERPRINT };
  return async ({ verifier } = relay) => {
    const challenge = verifier.challenge();
    const proof = await device.proof({ ...claim, challenge });
    const admission = await verifier.verify({ ...claim, proof, challenge, address });
    return { admission, address, offer: readOffer(offer(), 'sendonly') };
  };
}

test('a kick that comes while the proof is checked keeps the participant out', async () => {
  const admitted = await newcomer('ann');
  const entry = await admitted();
  await control.call(ModerationService.method.kickParticipant, { room: 'hall', username: 'ann' });
  await expect.poll(() => admitted().catch((error: { code: string }) => error.code)).toBe('TOKEN_REVOKED');
  await expect(relay.publish(entry, undefined)).rejects.toMatchObject({ status: 403, code: 'TOKEN_REVOKED' });
  expect(relay.counts).toEqual({ sessions: 0, rooms: 0, participants: 0 });
});

test('a session that ends while it is answered is refused, and leaves nothing', async () => {
  const answered = relay.publish(await (await newcomer('bob'))(), undefined);
  expect(relay.counts).toMatchObject({ sessions: 1 });
  const closed = relay.close();
  await expect(answered).rejects.toMatchObject({ status: 503, code: 'DRAINING' });
  expect(relay.counts).toEqual({ sessions: 0, rooms: 0, participants: 0 });
  await closed;
});

test('a relay admits from the moment that it has opened', async () => {
  const admit = await newcomer('eve');
  const own = await openRelay('opened');
  onTestFinished(() => own.close());
  expect((await admit(own)).admission).toMatchObject({ username: 'eve' });
});

test('a relay whose service is away opens all the same, and admits no one', async () => {
  const admit = await newcomer('kim');
  const own = await openRelay('away', 'http://127.0.0.1:1');
  onTestFinished(() => own.close());
  await expect(admit(own)).rejects.toMatchObject({ code: 'KEYS_UNAVAILABLE' });
});
