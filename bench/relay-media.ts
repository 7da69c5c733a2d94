/** The reference relay: one publisher, and many who see it. */
import { spawn } from 'node:child_process';
import { createHash, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { SignJWT } from 'jose';
import type { MediaClient } from '../relay/bench/media-client.ts';
import { newCredential } from '../src/access/devices/device-credential.ts';
import { renderTenantId, type TenantId } from '../src/base/tenants/tenant.ts';
import { adjustCredit } from '../src/money/ledger/adjust-credit.ts';
import { findFreePort } from '../src/run/free-port.ts';
import type { Bench, Benchmark, Contestant } from './benchmark.ts';
import { CpuMeter } from './cpu-meter.ts';
import { serviceConfig } from './settings.ts';
import { makeBenchTenant, makeFolder, openProcess, openStand, type Stand } from './stand.ts';

const SUBSCRIBERS = [10, 50];
const PACKETS_PER_SECOND = 100;
const PACKET_BYTES = 1_250;
const SECONDS = 5;

export const relayMedia: Benchmark = {
  name: 'relay-media',
  summary: 'the reference relay with one publisher and many subscribers, compared with bare copies by UDP',
  protocol: `One publisher sends ${PACKETS_PER_SECOND} packets of ${PACKET_BYTES} bytes a second (1 Mbit/s) to a relay in
    a process of its own, which encrypts and sends each to all subscribers, for ${SECONDS} s a round. Publisher and
    subscribers are in the process of the benchmark. The floor is a process of Node that copies each packet as it is to as many
    UDP sockets. The result is the packets that arrived for each second of CPU time of the relay, threads of the
    media library included.`,
  isByNameOnly: true,
  async run(bench) {
    const stand = await openStand(bench);
    const call = await openCall(bench, stand);
    for (const subscribers of SUBSCRIBERS) {
      const ours = await call.withSubscribers(subscribers);
      await bench.compare({
        title: `${subscribers} subscribers`,
        unit: 'packets per CPU second',
        contestants: [await openFloor(bench, stand, subscribers), ours],
      });
      bench.note(`memory with ${subscribers} subscribers`, call.memoryMb(), 'MB');
    }
  },
};

/** Counts what arrives while `send` is called in a steady beat. */
async function measure(pid: number, received: () => number, send: (sequence: number) => void) {
  const meter = new CpuMeter({ relay: pid });
  const before = received();
  meter.start();
  const begun = performance.now();
  for (let sequence = 0; sequence < SECONDS * PACKETS_PER_SECOND; sequence += 1) {
    send(sequence);
    const dueMs = ((sequence + 1) * 1000) / PACKETS_PER_SECOND;
    await sleep(Math.max(0, begun + dueMs - performance.now()));
  }
  meter.stop();
  return { value: (received() - before) / meter.seconds.get('relay')! };
}

async function openFloor(bench: Bench, stand: Stand, subscribers: number): Promise<Contestant> {
  const { url, pid } = await openProcess(bench, stand, './bare-udp.ts');
  const port = Number(new URL(url).port);
  let received = 0;
  for (let count = 0; count < subscribers; count += 1) {
    const socket = createSocket('udp4').on('message', () => {
      received += 1;
    });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    await bench.use(Promise.resolve(socket), async () => void socket.close());
    socket.send(Buffer.alloc(1), port, '127.0.0.1');
  }
  const sender = await bench.use(Promise.resolve(createSocket('udp4')), async (open) => void open.close());
  const packet = Buffer.alloc(PACKET_BYTES);
  return {
    name: 'bare UDP',
    role: 'floor',
    round: () =>
      measure(
        pid,
        () => received,
        () => sender.send(packet, port, '127.0.0.1'),
      ),
  };
}

interface Call {
  /** As many as these see the publisher from now on. */
  withSubscribers(count: number): Promise<Contestant>;
  memoryMb(): number;
}

async function openCall(bench: Bench, stand: Stand): Promise<Call> {
  const { openMediaClient, closeMediaClients, SSRC } = await import('../relay/bench/media-client.ts');
  const service = await openProcess(bench, stand, './service.ts');
  const { tenant, key } = await makeBenchTenant(stand, 'relay');
  await adjustCredit(stand.db, { kind: 'operator', id: 'bench' }, tenant, {
    amount: 20_000_000n,
    reason: 'bench',
    id: undefined,
  });
  const port = await findFreePort('127.0.0.1');
  const url = `http://127.0.0.1:${port}`;
  const pid = await startRelay(bench, {
    PORT: String(port),
    RELAY_URL: url,
    UDP_ADDRESS: '127.0.0.1',
    BOXOFFICE_URL: service.url,
    ISSUER: serviceConfig('').publicUrl,
    TENANT: renderTenantId(tenant),
    RELAY_KEY: key,
    SPOOL: await bench.use(makeFolder(), (path) => rm(path, { recursive: true, force: true })),
  });
  await bench.use(Promise.resolve(), async () => closeMediaClients());

  let received = 0;
  const clients: MediaClient[] = [];
  async function enter(username: string, path: 'whip' | 'whep'): Promise<MediaClient> {
    const device = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const credential = await makeCredential(stand, tenant);
    const token = await joinAs(service.url, credential, username, device.publicKey);
    const client = await openMediaClient(
      path === 'whip' ? 'SendOnly' : 'RecvOnly',
      (offer, fingerprint) =>
        exchange({ url: `${url}/rooms/hall/${path}`, token, device, offer, fingerprint }),
      () => {
        received += 1;
      },
    );
    await client.opened;
    return client;
  }
  const publisher = await enter('publisher', 'whip');
  /** They go on from round to round: SRTP takes a number once. */
  let sequence = 0;
  const send = () => {
    sequence += 1;
    publisher.send(videoPacket(SSRC, sequence));
  };
  return {
    async withSubscribers(count) {
      bench.progress(`${count} subscribers join`);
      while (clients.length < count) clients.push(await enter(`viewer-${clients.length}`, 'whep'));
      return { name: 'relay', role: 'ours', round: () => measure(pid, () => received, send) };
    },
    memoryMb: () => {
      const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
      return Number(kilobytes) / 1024;
    },
  };
}

/** Returns its process id when it serves. */
async function startRelay(bench: Bench, settings: NodeJS.ProcessEnv): Promise<number> {
  const main = new URL('../relay/src/main.ts', import.meta.url).pathname;
  const env = { ...process.env, ...settings };
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  await bench.use(once(child.stdout, 'data'), async () => {
    child.kill();
    await once(child, 'exit');
  });
  return child.pid!;
}

/** Begins like a key frame of VP8 of 640 x 360. Sources: RFC 3550, 5.1; RFC 7741, 4.2; RFC 6386, 9.1. */
function videoPacket(ssrc: number, sequence: number): Buffer {
  const packet = Buffer.alloc(PACKET_BYTES);
  packet[0] = 0x80;
  packet[1] = 0x80 | 96;
  packet.writeUInt16BE(sequence & 0xffff, 2);
  packet.writeUInt32BE(sequence * 900, 4);
  packet.writeUInt32BE(ssrc, 8);
  packet.set([0x10, 0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, 640 & 0xff, 640 >> 8, 360 & 0xff, 360 >> 8], 12);
  return packet;
}

/** One for each device: the joins of one are limited. */
async function makeCredential(stand: Stand, tenant: TenantId): Promise<string> {
  const { id, hash, plaintext } = newCredential();
  await stand.db.query(
    `insert into device_credentials (tenant_id, id, name, hash, publish) values ($1, $2, 'bench', $3, '{audio,video}')`,
    [tenant, id, hash],
  );
  return plaintext;
}

async function joinAs(
  service: string,
  credential: string,
  username: string,
  key: KeyObject,
): Promise<string> {
  const answer = await fetch(`${service}/join`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    body: JSON.stringify({ username, room: 'hall', key: key.export({ format: 'jwk' }) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`could not join: ${text}`);
  return (JSON.parse(text) as { token: string }).token;
}

interface Exchanged {
  readonly url: string;
  readonly token: string;
  readonly device: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly offer: string;
  readonly fingerprint: string;
}

/** The nonce hand-shake of docs/relays.md. */
async function exchange({ url, token, device, offer, fingerprint }: Exchanged): Promise<string> {
  const post = (headers: Record<string, string>) =>
    fetch(url, {
      method: 'POST',
      headers: { authorization: `DPoP ${token}`, 'content-type': 'application/sdp', ...headers },
      body: offer,
    });
  const nonce = (await post({})).headers.get('dpop-nonce');
  const claims = {
    jti: randomUUID(),
    htm: 'POST',
    htu: url,
    ath: createHash('sha256').update(token).digest('base64url'),
    nonce,
    dtls_fp: fingerprint.toLowerCase(),
  };
  const jwk = device.publicKey.export({ format: 'jwk' });
  const dpop = await new SignJWT(claims)
    .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
    .setIssuedAt()
    .sign(device.privateKey);
  const answer = await post({ dpop });
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(`the relay refused: ${text}`);
  return text;
}
