/** The log names no people. */
import { expect, test } from 'vitest';
import { useLoggedService } from '../../base/telemetry/support.ts';
import { useControl } from '../../support/grpc.ts';
import { usageRecord } from '../../support/service.ts';
import { mint, newStage } from '../moderation/support.ts';
import { liveThrough } from './support.ts';

const NAME = 'Zoë.Logged';

const app = useLoggedService('trace');
const controlOf = useControl(app);

test('no log names a person, whether something is reported, refused or erased', async () => {
  const stage = await newStage(app, controlOf);
  await liveThrough(app, stage, NAME);
  const { key, relayKey } = stage.tenant;
  const post = (path: string, body: unknown, of = key) => app.request('POST', path, { key: of, body });
  const erase = (participant: unknown) => post('/v1/participants/erase', { participant });

  // Refused reports and erasures.
  const record = usageRecord({ participant: NAME });
  expect((await post('/v1/usage', { records: [{ ...record, tier: NAME }] }, relayKey)).status).toBe(400);
  expect((await post('/v1/usage', { records: [{ ...record, [NAME]: 1 }] }, relayKey)).status).toBe(400);
  expect(
    (await post('/v1/usage', { records: [{ ...record, participant: NAME.repeat(99) }] }, relayKey)).status,
  ).toBe(400);
  expect((await erase(NAME.repeat(99))).status).toBe(400);
  expect((await erase({ name: NAME })).status).toBe(400);
  expect(
    (await app.request('POST', '/v1/participants/erase', { key, raw: `{"participant":"${NAME}` })).status,
  ).toBe(400);
  await mint(stage, 'dan');
  expect((await erase('dan')).status).toBe(409);

  const { id } = (await erase(NAME)).json.erasure;
  const look = async () => (await app.request('GET', `/v1/erasures/${id}`, { key })).json.erasure;
  await expect.poll(look).toMatchObject({ state: 'done', records: 2 });

  expect(app.log.length).toBeGreaterThan(1_000);
  expect(app.log.toLowerCase()).not.toContain('zoë');
  expect(app.log).not.toMatch(/zo\\u00eb/i);
});
