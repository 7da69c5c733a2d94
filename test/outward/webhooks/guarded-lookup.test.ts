/** Where requests go: which addresses a name may have, and who may answer for it over TLS. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parseRange } from '../../../src/base/lib/address.ts';
import { resolverOfMachine } from '../../../src/outward/webhooks/guarded-lookup.ts';
import { makeCertificate } from '../../support/tls/make-certificate.ts';
import {
  answerOk,
  IMPATIENT,
  LOOPBACK,
  post,
  startGreeter,
  startReceiver,
  startSender,
  startTlsReceiver,
} from './receivers.ts';

/** A resolver that gives the first answer, then the second one, and so on; the last one for ever. */
function resolving(...answers: readonly (readonly string[])[]) {
  return vi.fn(async (_name: string) => answers[Math.min(resolve.mock.calls.length, answers.length) - 1]!);
}
let resolve: ReturnType<typeof resolving>;

describe('a name', () => {
  test('is asked for once for a connection, which stays on that address', async () => {
    const receiver = await startReceiver((socket) => answerOk(socket));
    resolve = resolving(['127.0.0.1'], ['10.0.0.1']);
    const sender = startSender({ resolve });
    const url = `http://hooks.test:${receiver.port}/`;
    for (let i = 0; i < 3; i++) expect(await post(sender, url)).toMatchObject({ status: 200 });
    expect(resolve.mock.calls).toEqual([['hooks.test']]);
    expect(receiver.requests[0]).toContain(`host: hooks.test:${receiver.port}`.replace('host', 'Host'));
  });

  test('that resolves to another address for the next connection is checked again', async () => {
    const own = await startReceiver((socket) => answerOk(socket), '127.0.0.2');
    const inside = await startReceiver((socket) => answerOk(socket), '127.0.0.1', own.port);
    resolve = resolving(['127.0.0.2'], ['127.0.0.1']);
    const sender = startSender({ allowed: [parseRange('127.0.0.2')!], resolve });
    const url = `http://hooks.test:${own.port}/`;
    expect(await post(sender, url)).toMatchObject({ status: 200 });
    own.sockets[0]!.end();
    await once(own.sockets[0]!, 'close');
    expect(await post(sender, url)).toMatchObject({
      kind: 'failed',
      error: 'the name hooks.test resolves to an address that needs https',
    });
    expect([own.requests.length, inside.sockets.length]).toEqual([1, 0]);
  });

  test.each([
    [['127.0.0.1', '10.0.0.1'], 'a private address'],
    [['10.0.0.1', '127.0.0.1'], 'a private address'],
    [['169.254.169.254'], 'a link-local address'],
    [['fd00:ec2::254'], 'a private address'],
    [['::1'], 'a loopback address'],
    [['0.0.0.0'], 'a reserved address'],
    [['::ffff:127.0.0.1'], 'a translated address'],
    [['64:ff9b::7f00:1'], 'a translated address'],
    [['1.1.1.1', '100.64.1.1'], 'a shared address'],
    [['not an address'], 'a reserved address'],
  ])('of %s is refused', async (addresses, what) => {
    const receiver = await startReceiver((socket) => answerOk(socket));
    resolve = resolving(addresses);
    expect(await post(startSender({ resolve }), `https://hooks.test:${receiver.port}/`)).toMatchObject({
      kind: 'failed',
      error: `the name hooks.test resolves to ${what}`,
    });
    expect(receiver.sockets).toHaveLength(0);
  });

  test('of a public address is refused in plain http', async () => {
    resolve = resolving(['127.0.0.1', '1.1.1.1']);
    expect(await post(startSender({ resolve }), 'http://hooks.test/')).toMatchObject({
      error: 'the name hooks.test resolves to an address that needs https',
    });
  });

  test.each([
    ['has no address', async () => []],
    ['is unknown', () => Promise.reject(new Error('ENOTFOUND'))],
  ])('that %s is told so', async (_what, resolve) => {
    expect(await post(startSender({ resolve }), 'https://hooks.test/')).toMatchObject({
      kind: 'failed',
      error: 'the name hooks.test does not resolve',
    });
  });

  test('whose name server is silent ends with the time for a connection', async () => {
    const sender = startSender({ resolve: () => new Promise(() => {}), times: IMPATIENT });
    expect(await post(sender, 'https://hooks.test/')).toMatchObject({
      kind: 'failed',
      error: 'no connection to hooks.test within 0.2 s',
    });
  });

  test.each([
    [
      'http://hooks.test/',
      ['127.0.0.1', '1.1.1.1'],
      'the name hooks.test resolves to an address that needs https',
    ],
    ['http://hooks.test/', [], 'the name hooks.test does not resolve'],
    ['http://hooks.test/', ['127.0.0.1'], undefined],
    ['http://127.0.0.1/', ['1.1.1.1'], undefined],
    ['https://hooks.test/', ['10.0.0.1'], undefined],
  ] as const)('of %s with %j is known beforehand to fail: %s', async (url, addresses, why) => {
    const checked = startSender({ resolve: async () => addresses }).checkName(new URL(url));
    expect(await checked.catch(({ message }) => message)).toBe(why);
  });

  test('whose name server is silent is not waited for', async () => {
    const sender = startSender({ resolve: () => new Promise(() => {}), times: IMPATIENT });
    await expect(sender.checkName(new URL('http://hooks.test/'))).rejects.toThrow(
      'the name hooks.test does not resolve within 0.2 s',
    );
  });

  test.each(['localhost', 'LOCALHOST', 'a.localhost', 'localhost.'])('%s is this machine', async (name) => {
    expect(await resolverOfMachine()(name)).toEqual(['127.0.0.1', '::1']);
  });
});

describe('without ranges of the operator', () => {
  test.each([
    ['https://127.0.0.1/', 'the URL must be on the public internet: 127.0.0.1 is a loopback address'],
    ['https://[::1]/', 'the URL must be on the public internet: ::1 is a loopback address'],
    ['http://127.0.0.1/', 'the URL must begin with https://'],
    ['http://hooks.test/', 'the URL must begin with https://'],
    ['https://localhost/', 'the name localhost resolves to a loopback address'],
  ])('%s is refused, though it was stored', async (url, error) => {
    expect(await post(startSender({ allowed: [] }), url)).toMatchObject({ kind: 'failed', error });
  });
});

describe('over TLS', () => {
  const authority = makeCertificate({ name: 'authority.test' });
  const usual = tls.getCACertificates('default');
  beforeAll(() => tls.setDefaultCACertificates([authority.cert]));
  afterAll(() => tls.setDefaultCACertificates(usual));

  const sendTo = async (port: number, name = 'hooks.test') => {
    resolve = resolving(['127.0.0.1']);
    return await post(startSender({ allowed: LOOPBACK, resolve }), `https://${name}:${port}/hook`);
  };

  test('a certificate of a trusted authority is accepted', async () => {
    const receiver = await startTlsReceiver(makeCertificate({ name: 'hooks.test', issuer: authority }));
    expect(await sendTo(receiver.port)).toMatchObject({ kind: 'answered', status: 200, body: 'ok' });
  });

  test.each([
    ['is accepted where the receiver asks for one', true, { kind: 'answered', status: 200 }],
    ['is missing where the receiver asks for one', false, { error: 'hooks.test wants a client certificate' }],
  ])('a client certificate that %s', async (_what, isGiven, outcome) => {
    const receiver = await startTlsReceiver(
      makeCertificate({ name: 'hooks.test', issuer: authority }),
      authority.cert,
    );
    const { cert, key } = makeCertificate({ name: 'service.test', issuer: authority });
    resolve = resolving(['127.0.0.1']);
    const clientCertificate = isGiven ? { cert: Buffer.from(cert), key: Buffer.from(key) } : undefined;
    const sender = startSender({ allowed: LOOPBACK, resolve, clientCertificate });
    const url = `https://hooks.test:${receiver.port}/hook`;
    for (let each = 0; each < 2; each += 1) expect(await post(sender, url)).toMatchObject(outcome);
  });

  test.each([
    ['self-signed', { name: 'hooks.test' }, 'self-signed'],
    [
      'expired',
      { name: 'hooks.test', issuer: authority, notBefore: new Date(0), notAfter: new Date(86_400_000) },
      'expired',
    ],
    [
      'not valid yet',
      {
        name: 'hooks.test',
        issuer: authority,
        notBefore: new Date('2090-01-01'),
        notAfter: new Date('2091-01-01'),
      },
      'not valid yet',
    ],
    ['for another name', { name: 'other.test', issuer: authority }, 'issued for another name'],
    [
      'of an unknown authority',
      { name: 'hooks.test', issuer: makeCertificate({ name: 'unknown.test' }) },
      'its issuer is not trusted, or an intermediate certificate is missing',
    ],
  ])('a certificate that is %s is refused', async (_what, options, why) => {
    // This setting of Node's would turn the check off.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    try {
      const receiver = await startTlsReceiver(makeCertificate(options));
      expect(await sendTo(receiver.port)).toMatchObject({
        kind: 'failed',
        error: `the certificate is not valid: ${why}`,
      });
      expect(receiver.requests).toHaveLength(0);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test.each([
    ['is silent', () => {}, 'no connection to hooks.test within 0.2 s'],
    [
      'answers in plain text',
      (socket: Socket) => socket.end('HTTP/1.1 400 X\r\n\r\n'),
      'no TLS connection to hooks.test could be agreed on',
    ],
    ['hangs up', (socket: Socket) => socket.end(), 'the connection closed before the request was sent'],
  ])('a receiver without TLS that %s is told apart', async (_what, greet, error) => {
    const { port } = await startGreeter(greet);
    resolve = resolving(['127.0.0.1']);
    const sender = startSender({ resolve, ...(error.startsWith('no connection') && { times: IMPATIENT }) });
    expect(await post(sender, `https://hooks.test:${port}/`)).toMatchObject({ kind: 'failed', error });
  });
});
