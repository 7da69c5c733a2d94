/** Common checks of the REST door's answers, and means to send what no client would. */
import { connect } from 'node:net';
import { expect } from 'vitest';
import { parseTenantId, type TenantStatus } from '../../../src/base/tenants/tenant.ts';
import type { Answer, TestService } from '../../support/service.ts';

export const KEY = /^svc_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;

/** Checks a REST error: its exact shape, and its headers. */
export function expectError(
  answer: Answer,
  status: number,
  error: string,
  more: { code?: string } = {},
): void {
  expect({ status: answer.status, body: answer.json }).toStrictEqual({ status, body: { error, ...more } });
  expectCommonHeaders(answer);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const retryAfter = answer.headers.get('retry-after');
  if (status === 429 || status === 503) expect(Number(retryAfter)).toBeGreaterThan(0);
  else expect(retryAfter).toBeNull();
}

/** Checks a success: its status, its content type, and the common headers. Returns the body. */
export function expectOk(answer: Answer, status = 200) {
  expect(answer.status, answer.text).toBe(status);
  expectCommonHeaders(answer);
  if (status !== 204) expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.headers.get('retry-after')).toBeNull();
  return answer.json;
}

export function expectCommonHeaders(answer: Pick<Answer, 'headers'>): void {
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
}

export function amount(micros: number): { micros: number; display: string } {
  const size = Math.abs(micros);
  const whole = Math.trunc(size / 1_000_000);
  const fraction = String(size % 1_000_000).padStart(6, '0');
  return { micros, display: `${micros < 0 ? '-' : ''}$${whole}.${fraction}` };
}

/** Put a tenant into a status, regardless of the allowed transitions. */
export async function setStatus(
  app: TestService,
  tenant: { id: string },
  status: TenantStatus,
): Promise<void> {
  await app.service.deps.db.query('update tenants set status = $2 where id = $1', [
    parseTenantId(tenant.id),
    status,
  ]);
}

/** Values of other types, one argument each. */
export const NOT_STRINGS: readonly [unknown][] = [[null], [true], [0], [1.5], [[]], [{}], [['a']]];
export const NOT_INTEGERS: readonly [unknown][] = [[null], [true], ['5'], [''], [1.5], [[]], [{}], [[5]]];
export const NOT_BOOLEANS: readonly [unknown][] = [[null], ['true'], [''], [0], [1], [[]], [{}]];

/** A raw request line with headers. */
export function rawRequest(
  line: string,
  headers: Readonly<Record<string, string>> | readonly string[] = {},
  body = '',
): string {
  const lines = Array.isArray(headers)
    ? headers
    : Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [line, 'host: service.test', ...lines, '', body].join('\r\n');
}

/**
 * Send bytes as they are and read until the service closes, or until there is a whole answer.
 *
 * Fails if neither happens within `withinMs`. `afterwards` resolves to what is sent later.
 */
export function sendBytes(
  url: string,
  bytes: string | Uint8Array | readonly (string | Uint8Array)[],
  {
    withinMs = 5_000,
    afterwards,
  }: { withinMs?: number; afterwards?: (() => Promise<string>) | undefined } = {},
): Promise<Answer & { readonly elapsedMs: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer & { readonly elapsedMs: number }>();
  const started = performance.now();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let received = '';
  const timer = setTimeout(() => finish(new Error(`no answer, only ${JSON.stringify(received)}`)), withinMs);
  const finish = (error?: Error) => {
    clearTimeout(timer);
    socket.destroy();
    const answer = parseAnswer(received);
    if (answer) resolve({ ...answer, elapsedMs: performance.now() - started });
    else reject(error ?? new Error(`closed without an answer: ${JSON.stringify(received)}`));
  };
  socket.on('data', (data) => {
    received += data.toString('latin1');
    if (parseAnswer(received)) finish();
  });
  socket.on('error', finish);
  socket.on('close', () => finish());
  for (const part of [bytes].flat() as (string | Uint8Array)[]) socket.write(part);
  afterwards?.().then((rest) => socket.write(rest), finish);
  return promise;
}

function parseAnswer(received: string): Answer | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = received.slice(0, end).split('\r\n');
  const headers = new Headers(
    lines.map(
      (line) =>
        [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as [string, string],
    ),
  );
  const body = Buffer.from(received.slice(end + 4), 'latin1');
  const length = Number(headers.get('content-length') ?? 0);
  if (body.length < length) return undefined;
  const text = body.subarray(0, length).toString();
  const isJson = headers.get('content-type')?.includes('json') && text !== '';
  return { status: Number(first.split(' ')[1]), headers, text, json: isJson ? JSON.parse(text) : undefined };
}
