/** `npx @boxoffice/sdk whip-proxy`: joins as a device, and lets encoders of this machine publish as it. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { createDevice, Session } from '../device/index.ts';
import { keyFile } from './key-file.ts';
import { createWhipProxy } from './proxy.ts';

const HELP = `usage: npx @boxoffice/sdk whip-proxy --relay URL --join URL --username NAME [--room ROOM]
         [--port 8091] [--key-file device-key.json]

Publishes what an encoder of this machine sends by WHIP, such as OBS, GStreamer or FFmpeg.
DEVICE_CREDENTIAL in the environment is the device credential: dev_...
STREAM_KEY is what the encoder sends as its bearer token; without it, one is made and printed.
`;

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function orFail<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    return fail(`${(error as Error).message}\n\n${HELP}`);
  }
}

function readArguments() {
  const string = { type: 'string' } as const;
  const options = {
    relay: string,
    join: string,
    username: string,
    room: string,
    port: string,
    'key-file': string,
    help: { type: 'boolean' },
  } as const;
  const { values, positionals } = orFail(() => parseArgs({ options, allowPositionals: true }));
  if (values.help) {
    process.stdout.write(HELP);
    process.exit(0);
  }
  const { relay, join, username, room, port = '8091', 'key-file': file = 'device-key.json' } = values;
  const credential = process.env.DEVICE_CREDENTIAL;
  if (positionals.join() !== 'whip-proxy' || !relay || !join || !username) fail(HELP);
  if (!credential) fail('DEVICE_CREDENTIAL is not set');
  return {
    relay,
    port: Number(port),
    file,
    request: { url: join, credential, username, ...(room && { room }) },
  };
}

const { relay, port, file, request } = readArguments();
const device = await createDevice({ store: keyFile(file) });
const grant = await device.join(request).catch((error) => fail(`could not join: ${error.message}`));
const session = new Session({ grant, renew: (options) => device.join(request, options) });
session.on('tokenExpired', () => fail('the token lapsed, and could not be renewed'));
const log = (line: string) => process.stdout.write(`${line}\n`);
const streamKey = process.env.STREAM_KEY || randomBytes(16).toString('base64url');
const server = createWhipProxy({ relay, device, session, room: grant.room, streamKey, log });
server.listen(port, '127.0.0.1');
await once(server, 'listening').catch((error) => fail(`could not listen: ${error.message}`));
log(
  `WHIP for ${grant.username} in ${grant.room}: http://127.0.0.1:${(server.address() as AddressInfo).port}/whip`,
);
if (!process.env.STREAM_KEY) log(`bearer token: ${streamKey}`);
