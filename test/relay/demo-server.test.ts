/** What the web server of the demo says to requests that no page sends. */
import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openServer } from '../../demo/server.ts';

async function ask(method: string, path: string, body = '', given: object = {}): Promise<number> {
  const site = {
    answers: { state: async () => ({}) },
    destination: () => undefined,
    isLink: () => false,
    secret: () => undefined,
  };
  const server = openServer(site, undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const headers = { 'content-type': 'application/json', 'content-length': body.length, ...given };
  const asked = request({ port, host: '127.0.0.1', method, path, headers, agent: false });
  asked.end(body);
  const [answer] = await once(asked, 'response');
  answer.resume();
  return answer.statusCode;
}

test.each([
  ['GET', '//', '', 400],
  ['POST', '/demo/state', 'null', 200],
  ['POST', '/demo/state', '{', 400],
  ['POST', '/demo/constructor', '{}', 404],
  ['GET', '/demo/../../package.json', '', 404],
])('%s %s with the body "%s" is answered with %i', async (method, path, body, status) => {
  expect(await ask(method, path, body)).toBe(status);
});

test.each([
  ['of its own', { host: 'localhost:8090', origin: 'http://localhost:8090' }, 200],
  ['at a name of another site', { host: 'rebound.example:8090', origin: 'http://rebound.example:8090' }, 403],
  ['of another site', { host: 'localhost:8090', origin: 'https://rebound.example' }, 403],
])('a question by a page %s', async (_, headers, status) => {
  expect(await ask('POST', '/demo/state', '{}', headers)).toBe(status);
});
