/** Wrong addresses, other protocols, pages of proxies, and bodies of five megabytes. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer as createTlsServer } from 'node:tls';
import { readTable } from '../../../scripts/error-table.ts';
import type { Outcome } from '../driver.ts';
import { startScriptedControl } from '../scripted-control.ts';
import type { At, Step } from '../step.ts';

const LARGE = 5 * 1024 * 1024;
const PAGE = '<html><body>502 Bad Gateway</body></html>';
const TLS = new URL('../../../test/support/tls/', import.meta.url);

/** What a query and a GET make of the addresses. */
async function askAt(
  at: At,
  addresses: { url: string; control_url: string },
  timeoutMs = 5_000,
): Promise<readonly Outcome[]> {
  const { client } = await at.house({ ...addresses, retries: 0, timeout_ms: timeoutMs });
  return await Promise.all([client.call('rooms.get', { room: 'x' }), client.call('rates.get')]);
}

const both = (address: string) => ({ url: address, control_url: address });
const UNREACHED = { error: { kind: 'Unavailable', code: 'UNAVAILABLE', has_request_id: undefined } };

export const NETWORKS: readonly Step[] = [
  {
    name: 'wrong addresses',
    run: async (at) => {
      const unknown = await askAt(at, both('http://boxoffice.invalid:8080'));
      return {
        refused: await askAt(at, both('http://127.0.0.1:1')),
        // Where names are not answered at all, the time is over first.
        unknown: unknown.map((outcome) => /^(Unavailable|Timeout)$/.test(kindOf(outcome) ?? '')),
      };
    },
    expect: { refused: [UNREACHED, UNREACHED], unknown: [true, true] },
  },
  {
    name: 'TLS where there is none, none where there is, and a certificate of nobody',
    run: async (at) => {
      const { port, grpcPort } = at.world.service;
      const certificate = {
        cert: readFileSync(new URL('certificate.pem', TLS)),
        key: readFileSync(new URL('key.pem', TLS)),
      };
      const secure = await at.listen(createTlsServer({ ...certificate, ALPNProtocols: ['h2'] }));
      return {
        tlsToPlain: await askAt(at, {
          url: `https://localhost:${port}`,
          control_url: `https://localhost:${grpcPort}`,
        }),
        plainToTls: await askAt(at, both(`http://${secure}`)),
        untrusted: await askAt(at, both(`https://localhost:${secure.split(':')[1]}`)),
      };
    },
    expect: {
      tlsToPlain: [UNREACHED, UNREACHED],
      plainToTls: [UNREACHED, UNREACHED],
      untrusted: [UNREACHED, UNREACHED],
    },
  },
  {
    name: 'a page of HTML from a proxy in between',
    against: 'a script',
    run: async (at) => {
      const html = { 'content-type': 'text/html' };
      const one = createServer((_request, response) =>
        response.writeHead(502, { ...html, 'x-request-id': 'req_1' }).end(PAGE),
      );
      const ok = createServer((_request, response) => response.writeHead(200, html).end(PAGE));
      const two = createHttp2Server((_request, response) => {
        response.writeHead(502, html);
        response.end(PAGE);
      });
      const [http1, okHttp1, http2] = [await at.listen(one), await at.listen(ok), await at.listen(two)];
      const [ofHttp1, rest] = await askAt(at, both(`http://${http1}`));
      const [ofHttp2, restOk] = await askAt(at, {
        control_url: `http://${http2}`,
        url: `http://${okHttp1}`,
      });
      return { ofHttp1: kindOf(ofHttp1), ofHttp2: kindOf(ofHttp2), rest, restOk: kindOf(restOk) };
    },
    expect: {
      ofHttp1: 'Unavailable',
      ofHttp2: 'Unavailable',
      rest: { error: { kind: 'Unavailable', code: 502, has_request_id: true } },
      restOk: 'Internal',
    },
  },
  {
    name: 'a redirection is not followed: the key goes to no other host',
    against: 'a script',
    run: async (at) => {
      let arrived = 0;
      const elsewhere = createServer((_request, response) => response.end('{}'));
      elsewhere.on('connection', () => {
        arrived += 1;
      });
      const moved = { location: `http://${await at.listen(elsewhere)}/` };
      const rest = createServer((_request, response) => response.writeHead(307, moved).end());
      const control = createHttp2Server((_request, response) => {
        response.writeHead(307, moved);
        response.end();
      });
      const [ofControl, ofRest] = await askAt(at, {
        url: `http://${await at.listen(rest)}`,
        control_url: `http://${await at.listen(control)}`,
      });
      return { ofControl: kindOf(ofControl), ofRest, arrived };
    },
    expect: {
      ofControl: 'Internal',
      ofRest: { error: { kind: 'Internal', code: 307 } },
      arrived: undefined,
    },
  },
  {
    name: 'requests of five megabytes are refused',
    run: async (at) => {
      const { client } = await at.house({ retries: 0 });
      return {
        control: await client.call('rooms.create', { room: 'large', metadata: 'x'.repeat(LARGE) }),
        next: await client.call('rooms.create', { room: 'small' }),
      };
    },
    expect: {
      control: { error: { kind: 'Invalid', code: 'INVALID_ARGUMENT', reason: 'INVALID_REQUEST' } },
      next: { ok: { name: 'small' } },
    },
  },
  {
    name: 'a request of five megabytes over REST is refused, or its connection breaks',
    run: async (at) => {
      const { client, direct } = await at.house({ retries: 0 });
      const outcome = await client.call('keys.create', { name: 'x'.repeat(LARGE) });
      const isRefused = ['Invalid', 'Unavailable'].includes(outcome.error?.kind);
      const next = await client.call('keys.create', { name: 'small' });
      return { refused: isRefused || outcome, next, keys: (await direct.keys.list()).length };
    },
    expect: { refused: true, next: { ok: { key: { name: 'small' } } }, keys: 3 },
  },
  {
    name: 'answers of five megabytes are read',
    against: 'a script',
    run: async (at) => {
      const text = 'x'.repeat(LARGE);
      const control = await startScriptedControl(() => ({ room: { name: 'lobby', metadata: text } }));
      at.onEnd(control.close);
      const rest = createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ currency: 'usd', model: text }));
      });
      const addresses = { control_url: control.url, url: `http://${await at.listen(rest)}` };
      const [room, rates] = await askAt(at, addresses, 60_000);
      return {
        room: { error: room?.error, length: room?.ok?.metadata?.length },
        rates: { error: rates?.error, length: rates?.ok?.model?.length },
      };
    },
    expect: { room: { error: undefined, length: LARGE }, rates: { error: undefined, length: LARGE } },
  },
  {
    name: 'an answer as long as all SDKs accept, and longer ones',
    against: 'a script',
    run: async (at) => {
      const { answer_bytes_max: bytesMax } = readTable();
      const room = { name: 'lobby', metadata: 'x'.repeat(bytesMax) };
      const control = await startScriptedControl(() => ({ room }));
      at.onEnd(control.close);
      const restOf = async (bytes: number) => {
        const text = '{"currency":"usd"}'.padEnd(bytes);
        const server = createServer((_request, response) => {
          response.writeHead(200, { 'content-type': 'application/json' }).end(text);
        });
        return `http://${await at.listen(server)}`;
      };
      const longest = { control_url: control.url, url: await restOf(bytesMax) };
      const [longer, read] = await askAt(at, longest, 60_000);
      const [, refused] = await askAt(at, { ...longest, url: await restOf(bytesMax + 1) }, 60_000);
      return { isRefused: longer?.ok === undefined, read, refused };
    },
    expect: {
      isRefused: true,
      read: { ok: { currency: 'usd' } },
      refused: { error: { kind: 'Internal', code: 200 } },
    },
  },
  {
    name: 'an answer over REST that breaks in the middle, or is no JSON',
    against: 'a script',
    run: async (at) => {
      const broken = createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
        response.write('{"currency":');
        setTimeout(() => response.destroy(), 50);
      });
      const half = createServer((_request, response) => response.writeHead(200).end('{"currency":'));
      const [, ofBroken] = await askAt(at, both(`http://${await at.listen(broken)}`));
      const [, ofHalf] = await askAt(at, both(`http://${await at.listen(half)}`));
      return { ofBroken: kindOf(ofBroken), ofHalf: kindOf(ofHalf) };
    },
    expect: { ofBroken: 'Unavailable', ofHalf: 'Internal' },
  },
];

/** Where languages know different details. */
function kindOf(outcome: Outcome | undefined): string | undefined {
  return outcome?.error?.kind;
}
