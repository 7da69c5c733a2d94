/** The proxy for encoders: a browser as an encoder that has a bearer token, and nothing of the service. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, inject, onTestFinished, test } from 'vitest';
import { sees, useRelay } from './support.ts';

const meeting = await useRelay();
const MAIN = join(import.meta.dirname, '../../sdk/typescript/src/command/main.ts');

/** Resolves with the address that it printed. */
async function startProxy(room: string, keyFile: string): Promise<string> {
  const { app, relay, credential } = meeting;
  const where = ['--relay', relay.url, '--join', app.url, '--port', '0', '--key-file', keyFile];
  const child = spawn(process.execPath, [MAIN, 'whip-proxy', ...where, '--username', 'ann', '--room', room], {
    env: { ...process.env, DEVICE_CREDENTIAL: credential, STREAM_KEY: 'secret' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const [line] = await once(createInterface(child.stdout), 'line');
  expect(line).toMatch(new RegExp(`^WHIP for ann in ${room}: `));
  return /http:\S+/.exec(line)![0];
}

const send = (url: string, method: string, body?: string, key = 'secret') =>
  fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/sdp' },
    ...(body !== undefined && { body }),
  });

test('an encoder publishes with a bearer token, and leaves', async () => {
  const folder = await mkdtemp(join(inject('scratch'), 'proxy-'));
  const keyFile = join(folder, 'key.json');
  const whip = await startProxy('studio', keyFile);
  expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
  const [encoder, bob] = [await meeting.open(), await meeting.enter('bob', 'studio')];
  const answer = await send(whip, 'POST', await encoder.ask<string>('encode'));
  expect(answer.status).toBe(201);
  await encoder.ask('accept', await answer.text());
  await bob.ask('connect', { relay: meeting.relay.url });
  await sees(bob);

  const session = new URL(answer.headers.get('location')!, whip).href;
  expect(
    (await send(session, 'PATCH', 'a=mid:0\r\na=candidate:1 1 UDP 1 192.0.2.1 9 typ host\r\n')).status,
  ).toBe(204);
  expect((await send(session, 'DELETE')).status).toBe(200);
  await expect.poll(() => bob.heard('left')).toMatchObject([{ username: 'ann' }]);
  expect((await send(session, 'DELETE')).status).toBe(404);
});

test('it refuses other keys and broken offers, and says what the relay says', async () => {
  const folder = await mkdtemp(join(inject('scratch'), 'proxy-'));
  const whip = await startProxy('studio-2', join(folder, 'key.json'));
  const encoder = await meeting.open();
  const offer = await encoder.ask<string>('encode');
  expect((await send(whip, 'POST', offer, 'wrong')).status).toBe(401);
  expect((await send(whip, 'POST', 'nonsense')).status).toBe(400);
  expect((await send(whip, 'POST', offer.replaceAll('opus', 'G722'))).status).toBe(406);
  expect((await send(whip, 'POST', 'x'.repeat(70_000))).status).toBe(413);
  expect((await send(`${whip}/unknown`, 'DELETE')).status).toBe(404);
});
