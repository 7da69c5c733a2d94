import Fastify from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { readDistribution } from '../../../src/base/db/distribution.ts';
import { FAILURES, Failure, type FailureKind, invalidRequest } from '../../../src/base/failure.ts';
import { renderClientError, sendError } from '../../../src/doors/rest/errors.ts';
import { rawRequest, sendBytes } from './support.ts';

/** The answer of a route that throws this. */
async function answerTo(error: unknown) {
  const app = Fastify();
  app.setErrorHandler((thrown, request, reply) => sendError(thrown, request, reply));
  app.get('/', async () => {
    throw error;
  });
  const answer = await app.inject('/');
  await app.close();
  return answer;
}

describe('a failure', () => {
  const STATUS: Partial<Record<FailureKind, number>> = {
    invalid_request: 400,
    invalid_api_key: 401,
    payment_required: 402,
    credit_spent: 402,
    permission_denied: 403,
    tenant_not_active: 403,
    not_found: 404,
    method_not_allowed: 405,
    already_rotated: 409,
    already_revoked: 409,
    already_expired: 409,
    room_ended: 409,
    month_not_over: 409,
    export_running: 409,
    status_change_refused: 409,
    would_stop_service: 409,
    too_many_signups: 429,
    too_many_joins: 429,
    too_many_failed_keys: 429,
    provider_error: 502,
    payments_not_configured: 503,
  };

  test.each(Object.keys(STATUS) as FailureKind[])('%s', async (kind) => {
    const answer = await answerTo(new Failure(kind));
    expect(answer.statusCode).toBe(STATUS[kind]);
    expect(answer.json()).toStrictEqual({
      error: FAILURES[kind],
      ...(kind === 'would_stop_service' ? { code: 'would_stop_service' } : {}),
    });
  });

  test.each([
    ['too_many_signups', 'too many signups from this address'],
    ['payment_required', 'payment required: add credit to activate this tenant'],
    ['credit_spent', 'insufficient credit: top up to admit new sessions'],
    ['tenant_not_active', 'tenant is not active'],
    ['not_found', 'not found'],
    ['invalid_api_key', 'invalid api key'],
    ['export_running', 'an export of this tenant is under way: wait for its end'],
    ['status_change_refused', 'tenant status cannot change that way'],
    ['payments_not_configured', 'payments are not configured on this deployment'],
  ] as const)('%s speaks the words of the specification', (kind, words) => {
    expect(FAILURES[kind]).toBe(words);
  });

  test('has a Retry-After', async () => {
    const answer = await answerTo(new Failure('too_many_signups', { retryAfter: 17 }));
    expect(answer.headers['retry-after']).toBe('17');
    expect((await answerTo(new Failure('payments_not_configured'))).headers['retry-after']).toBe('3600');
  });

  test('does not reveal its cause', async () => {
    const failure = new Failure('provider_error', {
      message: 'Card declined.',
      cause: new Error('sk_live_canary'),
    });
    expect((await answerTo(failure)).json()).toStrictEqual({ error: 'Card declined.' });
    expect((await answerTo(invalidRequest('x must be y'))).json()).toStrictEqual({
      error: 'invalid request: x must be y',
    });
  });
});

describe('anything else', () => {
  test.each([
    new Error('canary'),
    Object.assign(new Error('canary'), { statusCode: 400, code: 'ECANARY' }),
    Object.assign(new Error('canary'), { statusCode: 200 }),
    new TypeError('canary'),
    { canary: true, statusCode: 418 },
    'canary',
  ])('is an internal error: %s', async (thrown) => {
    const answer = await answerTo(thrown);
    expect(answer.statusCode).toBe(500);
    expect(answer.json()).toStrictEqual({ error: 'internal error' });
  });
});

test('a lock or a statement that takes too long is no internal error, and can be retried', async () => {
  const answer = await answerTo(Object.assign(new Error('canceling statement'), { code: '55P03' }));
  expect(answer.statusCode).toBe(503);
  expect(answer.headers['retry-after']).toBe('2');
  expect(answer.json()).toStrictEqual({ error: 'the service is busy: try again' });
});

describe('renderClientError', () => {
  test.each([
    ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout', 'the request was not complete in time'],
    ['HPE_HEADER_OVERFLOW', '400 Bad Request', 'invalid request: the head of the request is too large'],
    ['HPE_INVALID_METHOD', '400 Bad Request', 'invalid request: this is not an HTTP request'],
    [undefined, '400 Bad Request', 'invalid request: this is not an HTTP request'],
  ])('%s', (code, status, error) => {
    const [head = '', body = ''] = renderClientError(code, 'req_1').split('\r\n\r\n');
    expect(head.split('\r\n')).toStrictEqual([
      `HTTP/1.1 ${status}`,
      'content-type: application/json; charset=utf-8',
      'cache-control: no-store',
      'x-request-id: req_1',
      `content-length: ${body.length}`,
      'connection: close',
    ]);
    expect(JSON.parse(body)).toStrictEqual({ error });
  });
});

describe('an error before the request was complete', () => {
  /** The answer to the head of a request whose body never comes. */
  async function answerToHead(error: Error & { code: string }): Promise<string> {
    const app = Fastify();
    app.setErrorHandler((thrown, request, reply) => sendError(thrown, request, reply));
    app.post('/', { onRequest: () => Promise.reject(error) }, async () => undefined);
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const head = { 'content-type': 'application/json', 'content-length': '10' };
    const answer = await sendBytes(url, rawRequest('POST / HTTP/1.1', head, '{'));
    await app.close();
    return `${answer.status} ${answer.json.error}`;
  }
  const errorOf = (code: string, message: string) => Object.assign(new Error(message), { code });

  test.each([
    ['ECONNRESET', 'aborted', '400 invalid request: the body ended early'],
    ['ERR_STREAM_PREMATURE_CLOSE', 'premature close', '400 invalid request: the body ended early'],
    // The service was too slow to get to it.
    ['FST_ERR_HANDLER_TIMEOUT', 'timeout', '503 the service is busy: try again'],
    // The database was lost meanwhile: that is not the client's error, and a retry may succeed.
    ['ECONNRESET', 'read ECONNRESET', '500 internal error'],
    ['EPIPE', 'write EPIPE', '500 internal error'],
  ])('%s, %s', async (code, message, expected) => {
    expect(await answerToHead(errorOf(code, message))).toBe(expected);
  });
});

describe('an error after the request was complete', () => {
  /** Over a real socket, which knows whether a request is complete. */
  async function statusOf(code: string): Promise<{ status: number; body: unknown }> {
    const app = Fastify();
    app.setErrorHandler((thrown, request, reply) => sendError(thrown, request, reply));
    app.post('/', async () => {
      throw Object.assign(new Error('lost'), { code });
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const answer = await fetch(url, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    const body = await answer.json();
    await app.close();
    return { status: answer.status, body };
  }

  test.each([
    ['ECONNRESET', 500, 'internal error'],
    ['ERR_STREAM_PREMATURE_CLOSE', 500, 'internal error'],
    ['FST_ERR_HANDLER_TIMEOUT', 503, 'the service is busy: try again'],
  ])('%s is a server error, and can be retried', async (code, status, error) => {
    expect(await statusOf(code)).toEqual({ status, body: { error } });
  });
});

describe('a database that is away', () => {
  const away = Object.assign(new Error('connection to the remote node failed'), { code: '08006' });
  /** A database whose catalog says so. */
  const readAs = (isDistributed: boolean) =>
    readDistribution({
      query: async () => ({ rows: [{ exists: isDistributed }], rowCount: 1 }),
    } as unknown as Parameters<typeof readDistribution>[0]);
  afterEach(() => readAs(false));

  test('is 500 if there is no other', async () => {
    expect((await answerTo(away)).statusCode).toBe(500);
  });

  test('is 503, to be repeated, if it is one of several', async () => {
    await readAs(true);
    const answer = await answerTo(away);
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('2');
    expect(answer.json()).toEqual({ error: 'a database server is away: try again' });
  });
});
