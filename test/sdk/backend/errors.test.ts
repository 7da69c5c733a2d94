import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../sdk/typescript/src/backend/error-kinds.ts';
import { errorOfAnswer } from '../../../sdk/typescript/src/backend/errors.ts';
import { REASONS } from '../../../sdk/typescript/src/backend/index.ts';
import { client, errorOf, Refusal, startControl, TENANT } from './support.ts';

/** The client's error for a refusal. */
async function received(...refusal: ConstructorParameters<typeof Refusal>) {
  const control = await startControl(() => {
    throw new Refusal(...refusal);
  });
  const boxoffice = client({ controlUrl: control.url, tenant: TENANT, retries: 0 });
  return await errorOf(boxoffice.rooms.get({ room: 'x' }));
}

describe('a call of the control plane', () => {
  test.each(Object.entries(REASONS))('%s has its kind', async (reason, { code, kind }) => {
    expect(await received(code, { reason })).toMatchObject({
      kind,
      code,
      reason,
      message: `refused: ${reason}`,
      requestId: 'req_1',
      metadata: { excess: 'room.end' },
    });
  });

  test.each(Object.entries(KINDS))('%s without a known reason is %s', async (code, kind) => {
    const name = code as keyof typeof KINDS;
    expect(await received(name, { reason: 'OF_A_LATER_VERSION' })).toMatchObject({ kind, code });
    expect(await received(name, { details: 'a proxy' })).toMatchObject({
      kind,
      reason: '',
      message: 'a proxy',
    });
  });

  test('a reason with another code is mapped by the code', async () => {
    expect(await received('NOT_FOUND', { reason: 'ROOM_ENDED' })).toMatchObject({ kind: 'NotFound' });
  });
});

describe('an answer of the REST interface', () => {
  const of = (status: number, body: object | string = {}, headers: Record<string, string> = {}) =>
    errorOfAnswer(
      new Response(null, { status, headers }),
      typeof body === 'string' ? body : JSON.stringify(body),
    );

  test.each([
    [400, 'Invalid'],
    [401, 'Unauthenticated'],
    [402, 'Precondition'],
    [403, 'Denied'],
    [404, 'NotFound'],
    [405, 'Invalid'],
    [409, 'Precondition'],
    [429, 'RateLimited'],
    [500, 'Internal'],
    [502, 'Unavailable'],
    [503, 'Unavailable'],
    [504, 'Unavailable'],
    [302, 'Internal'],
    [418, 'Internal'],
  ])('%i is %s', (status, kind) => {
    expect(of(status, { error: 'why' })).toMatchObject({ kind, code: status, message: 'why' });
  });

  test('the error has all details of the answer', () => {
    const headers = { 'x-request-id': 'req_2', 'retry-after': '7' };
    expect(of(409, { error: 'last key', code: 'would_stop_service' }, headers)).toMatchObject({
      reason: 'WOULD_STOP_SERVICE',
      requestId: 'req_2',
      retryAfterMs: 7_000,
    });
    expect(of(400, { error: 'invalid request: name is required' }).fields).toStrictEqual([
      { field: '', description: 'name is required' },
    ]);
    const wrong = { error: 'invalid request: records/0/seconds must be <= 86400' };
    for (const [header, fields] of [
      ['records/0/seconds', { field: 'records/0/seconds', description: 'must be <= 86400' }],
      ['%C3%BC%2F%25', { field: 'ü/%', description: 'records/0/seconds must be <= 86400' }],
      ['%ff', { field: '', description: 'records/0/seconds must be <= 86400' }],
      ['%', { field: '', description: 'records/0/seconds must be <= 86400' }],
    ] as const) {
      expect(of(400, wrong, { 'invalid-field': header }).fields, header).toStrictEqual([fields]);
    }
    expect(of(402, { error: 'insufficient credit' }).reason).toBe('NO_CREDIT');
  });

  test.each(['<html>', '', 'null', '[]', '"x"'])(
    'with an unknown body only the status counts: %j',
    (body) => {
      expect(of(502, body)).toMatchObject({
        kind: 'Unavailable',
        message: 'the service answered 502',
        reason: '',
      });
    },
  );
});
