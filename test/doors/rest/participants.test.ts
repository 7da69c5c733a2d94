import { beforeEach, describe, expect, test } from 'vitest';
import { mint, newStage, type Stage } from '../../control/moderation/support.ts';
import { insertUsage } from '../../control/people/support.ts';
import { useControl } from '../../support/grpc.ts';
import { type RequestOptions, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { TIMESTAMP } from '../../support/timestamp.ts';
import { expectError, expectOk, NOT_STRINGS, setStatus } from './support.ts';

const app = useService();
const controlOf = useControl(app);
let stage: Stage;

beforeEach(async () => {
  stage = await newStage(app, controlOf);
});

const post = (options: RequestOptions) =>
  app.request('POST', '/v1/participants/erase', { key: stage.tenant.key, ...options });
const erase = (participant: unknown, options: RequestOptions = {}) =>
  post({ body: { participant }, ...options });
const show = (id: string, key = stage.tenant.key) => app.request('GET', `/v1/erasures/${id}`, { key });

describe('POST /v1/participants/erase', () => {
  test('202: the erasure goes on in the background, and never shows the name', async () => {
    await insertUsage(app.service.deps.db, idOf(stage.tenant), { participants: ['ann.secret'], count: 30 });
    const asked = await erase('ann.secret');
    expect(expectOk(asked, 202)).toStrictEqual({
      erasure: {
        id: expect.stringMatching(/^er_[0-9a-f]{32}$/),
        state: 'pending',
        records: 0,
        created_at: expect.stringMatching(TIMESTAMP),
      },
    });
    const { id, created_at } = asked.json.erasure;
    await expect
      .poll(async () => expectOk(await show(id)))
      .toStrictEqual({
        erasure: {
          id,
          state: 'done',
          records: 30,
          created_at,
          finished_at: expect.stringMatching(TIMESTAMP),
        },
      });
    expect(asked.text).not.toContain('ann');
    expect((await show(id)).text).not.toContain('ann');
  });

  test('202: the longest name, and one that is no username', async () => {
    for (const name of ['🎭'.repeat(200), 'Ann Smith', 'x']) expectOk(await erase(name), 202);
  });

  test.each([
    ['', 'participant must not be empty'],
    ['a'.repeat(201), 'participant must not have more than 200 characters'],
    ['🎭'.repeat(201), 'participant must not have more than 200 characters'],
    ['(erased)', 'participant must be a name: this is what stands for erased ones'],
  ])('400: %j', async (name, message) => {
    expectError(await erase(name), 400, `invalid request: ${message}`);
  });

  test.each(NOT_STRINGS)('400: %j', async (value) => {
    expectError(await erase(value), 400, 'invalid request: participant must be string');
  });

  test.each([
    [{ raw: '{"participant":' }, 'the body is not JSON'],
    [{ raw: '' }, 'the body'],
    [{ raw: '[]' }, 'body must be object'],
    [{ body: {} }, 'participant'],
    [{ body: { participant: 'ann', name: 'ann' } }, 'name is not a known field'],
    [{ raw: '{"participant":"a","participant":"b"}' }, 'a member is given twice'],
    [{ raw: '{"participant":"\\u0000"}' }, 'text may not hold NUL'],
    [{ raw: Buffer.from('{"participant":"\xff"}', 'latin1') }, 'UTF-8'],
  ] as [RequestOptions, string][])('400: %j', async (options, part) => {
    const answer = await post(options);
    expectError(answer, 400, answer.json.error);
    expect(answer.json.error).toMatch(/^invalid request: /);
    expect(answer.json.error).toContain(part);
  });

  test('401: without a key, and with a relay key', async () => {
    expectError(await erase('ann', { key: undefined }), 401, 'invalid api key');
    expectError(await erase('ann', { key: stage.tenant.relayKey }), 401, 'invalid api key');
  });

  test.each(['pending', 'suspended', 'archived'] as const)('202 while the tenant is %s', async (status) => {
    await setStatus(app, stage.tenant, status);
    expectOk(await erase('ann'), 202);
  });

  test('403: the tenant was deleted', async () => {
    await setStatus(app, stage.tenant, 'deleted');
    expectError(await erase('ann'), 403, 'tenant is not active');
  });

  test('405: another method', async () => {
    const answer = await app.request('GET', '/v1/participants/erase', { key: stage.tenant.key });
    expectError(answer, 405, 'method not allowed');
  });

  test('409: the person is in a room', async () => {
    await mint(stage, 'Ann');
    expectError(await erase('ANN'), 409, 'participant is in a room: end the session first');
  });

  test('asking twice gets the same erasure', async () => {
    // Enough work that it is pending when it is asked for again.
    await insertUsage(app.service.deps.db, idOf(stage.tenant), { participants: ['ann'], count: 20_000 });
    const [first, second] = [await erase('ann'), await erase('ann')];
    expect(second.json.erasure.id).toBe(first.json.erasure.id);
    const done = async () => (await show(first.json.erasure.id)).json.erasure;
    await expect.poll(done).toMatchObject({ state: 'done', records: 20_000 });
    expect((await erase('ann')).json.erasure.id).not.toBe(first.json.erasure.id);
  });
});

describe('GET /v1/erasures/{id}', () => {
  test("404: there is none, or it is another tenant's", async () => {
    const { id } = (await erase('ann')).json.erasure;
    const other = await app.signUp();
    expectError(await show(id, other.key), 404, 'not found');
    for (const unknown of [`er_${'0'.repeat(32)}`, 'x', '%00', '%F0%9F', 'a'.repeat(99)]) {
      const answer = await show(unknown);
      expect([unknown, answer.status >= 400 && answer.status < 500]).toEqual([unknown, true]);
    }
  });

  test('401 and 403', async () => {
    const { id } = (await erase('ann')).json.erasure;
    expectError(await show(id, stage.tenant.relayKey), 401, 'invalid api key');
    await setStatus(app, stage.tenant, 'deleted');
    expectError(await show(id), 403, 'tenant is not active');
  });
});
