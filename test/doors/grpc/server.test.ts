/** The listener itself: health, reflection, TLS, addresses, its log, and its shutdown. */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StatusSchema } from '@boxoffice/contract/google/rpc/error_details';
import { fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import {
  type ChannelCredentials,
  Client,
  type ClientReadableStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  makeClientConstructor,
  type ServiceClientConstructor,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { service as healthService } from 'grpc-health-check';
import pino from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { nameOf, SERVICES } from '../../../scripts/error-table.ts';
import { parseRange } from '../../../src/base/lib/address.ts';
import { makeLog } from '../../../src/base/telemetry/log.ts';
import { clientAddress } from '../../../src/doors/grpc/client-address.ts';
import { type ServiceConfig, startService } from '../../../src/run/service.ts';
import { openDatabaseProxy } from '../../base/db/proxy.ts';
import { bareConfig } from '../../support/bare-config.ts';
import { useDatabase } from '../../support/database.ts';
import { openHolder } from '../../support/holder.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { type Fields, VALID } from './conditions.ts';
import { encode, metadataOf, send } from './failing-calls.ts';
import { makeWorld, type World } from './world.ts';

const database = useDatabase();
const methods = SERVICES.flatMap((service) => service.methods);
const methodOf = (name: string) => methods.find((method) => nameOf(method) === name)!;

const TLS = {
  certificateFile: fileURLToPath(new URL('../../support/tls/certificate.pem', import.meta.url)),
  keyFile: fileURLToPath(new URL('../../support/tls/key.pem', import.meta.url)),
};

/** A service that is stopped at the end of the test, if it still runs. */
async function start(config: Partial<ServiceConfig> = {}, log = pino({ level: 'silent' })) {
  const service = await startService({ ...bareConfig(database.url), ...config }, log);
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= service.stop();
    return stopping;
  };
  onTestFinished(stop);
  const world = await makeWorld(service.deps.db);
  return { service, world, stop };
}

function open(port: number, channel: ChannelCredentials = credentials.createInsecure()): Client {
  const client = new Client(`127.0.0.1:${port}`, channel);
  onTestFinished(() => client.close());
  return client;
}

function call(client: Client, name: string, world: World, fields: Fields = VALID[name]!(world)) {
  const method = methodOf(name);
  const metadata = metadataOf(`Bearer ${world.keys.backend}`);
  return send(client, method, encode(method, { tenant: world.id, ...fields }), metadata);
}

/** Clients for services whose definitions come with the tools. */
type Dynamic = Client & Record<string, (...args: unknown[]) => unknown>;

function healthOf(port: number): Dynamic {
  const Health = makeClientConstructor(healthService, 'Health');
  const client = new Health(`127.0.0.1:${port}`, credentials.createInsecure(), {
    // A connection of its own.
    'grpc.use_local_subchannel_pool': 1,
  }) as unknown as Dynamic;
  onTestFinished(() => client.close());
  return client;
}

describe('health', () => {
  const NAMES = ['', ...SERVICES.map(({ typeName }) => typeName)];
  const check = (health: Dynamic, service: string) =>
    new Promise((resolve) => {
      health.check!({ service }, (error: { code: number } | null, answer: { status: string }) =>
        resolve(error ? status[error.code] : answer.status),
      );
    });

  test('needs no key, and knows the server and each service', async () => {
    const { service } = await start();
    const health = healthOf(service.grpcPort);
    for (const name of NAMES) expect(await check(health, name)).toBe('SERVING');
    expect(await check(health, 'another.Service')).toBe('NOT_FOUND');
  });

  test('tells watchers that the service stops, and does not delay the stop', async () => {
    const { service, stop } = await start();
    const health = healthOf(service.grpcPort);
    const watched = NAMES.map((name) => {
      const heard: string[] = [];
      const stream = health.watch!({ service: name }) as ClientReadableStream<{ status: string }>;
      stream.on('data', (each: { status: string }) => heard.push(each.status)).on('error', () => {});
      return heard;
    });
    await expect.poll(() => watched.flat()).toStrictEqual(NAMES.map(() => 'SERVING'));
    const begun = performance.now();
    await stop();
    // A stop waits ten seconds for calls that do not end.
    expect(performance.now() - begun).toBeLessThan(9_000);
    for (const heard of watched) expect(heard).toStrictEqual(['SERVING', 'NOT_SERVING']);
  });
});

describe('readiness', () => {
  const check = (health: Dynamic) =>
    new Promise((resolve) => {
      health.check!({ service: '' }, (_error: unknown, answer: { status: string }) => resolve(answer.status));
    });

  test('NOT_SERVING within 5 s of losing the database, and SERVING once it is back', async () => {
    const proxy = await openDatabaseProxy(database.url);
    onTestFinished(() => proxy.close());
    const { service } = await start({ databaseUrl: proxy.url });
    const health = healthOf(service.grpcPort);
    const heard: string[] = [];
    const stream = health.watch!({ service: '' }) as ClientReadableStream<{ status: string }>;
    stream.on('data', (each: { status: string }) => heard.push(each.status)).on('error', () => {});
    await expect.poll(() => heard).toStrictEqual(['SERVING']);
    proxy.setOpen(false);
    await expect.poll(() => check(health), { timeout: 5_000 }).toBe('NOT_SERVING');
    proxy.setOpen(true);
    await expect.poll(() => check(health)).toBe('SERVING');
    expect(heard).toStrictEqual(['SERVING', 'NOT_SERVING', 'SERVING']);
  });

  test('a database that hangs counts as unavailable', async () => {
    const proxy = await openDatabaseProxy(database.url);
    onTestFinished(() => proxy.close());
    const { service } = await start({ databaseUrl: proxy.url });
    const health = healthOf(service.grpcPort);
    proxy.setSilent(true);
    await expect.poll(() => check(health), { timeout: 5_000 }).toBe('NOT_SERVING');
    proxy.setSilent(false);
    await expect.poll(() => check(health)).toBe('SERVING');
  });
});

test('at most 1,000 keyless streams are open, and health can still be checked', async () => {
  const { service } = await start();
  const ended: unknown[] = [];
  let heard = 0;
  const watch = (health: Dynamic) => {
    const stream = health.watch!({ service: '' }) as ClientReadableStream<unknown>;
    stream.on('data', () => (heard += 1)).on('error', (error) => ended.push(error));
    return stream;
  };
  // One connection carries 200.
  const clients = Array.from({ length: 6 }, () => healthOf(service.grpcPort));
  const streams = clients.slice(1).flatMap((health) => Array.from({ length: 200 }, () => watch(health)));
  await expect.poll(() => heard).toBe(1_000);
  const [health] = clients;
  watch(health!);
  await expect
    .poll(() => ended)
    .toMatchObject([{ code: status.UNAVAILABLE, details: 'too many open streams' }]);
  const [details] = (ended[0] as ServiceError).metadata.get('grpc-status-details-bin');
  const types = fromBinary(StatusSchema, details as Buffer).details.map(({ typeUrl }) => typeUrl);
  expect(types).toContain('type.googleapis.com/google.rpc.RetryInfo');
  await new Promise((resolve) => health!.check!({ service: '' }, resolve));

  const before = heard;
  streams[0]!.cancel();
  await expect
    .poll(() => {
      watch(health!);
      return heard;
    })
    .toBeGreaterThan(before);
});

describe.each(['v1', 'v1alpha'])('reflection %s', (version) => {
  interface Answer {
    readonly list_services_response?: { readonly service: readonly { readonly name: string }[] };
    readonly file_descriptor_response?: { readonly file_descriptor_proto: readonly Buffer[] };
    readonly error_response?: { readonly error_code: number };
  }

  async function ask(port: number, request: object): Promise<Answer> {
    const path = `../../../node_modules/@grpc/reflection/build/proto/grpc/reflection/${version}/reflection.proto`;
    const loaded = loadSync(fileURLToPath(new URL(path, import.meta.url)), { keepCase: true });
    const Reflection = loaded[`grpc.reflection.${version}.ServerReflection`];
    const services = loadPackageDefinition({ Reflection: Reflection! }) as unknown as {
      Reflection: ServiceClientConstructor;
    };
    const client = new services.Reflection(`127.0.0.1:${port}`, credentials.createInsecure());
    const stream = (client as unknown as Dynamic).ServerReflectionInfo!() as ClientReadableStream<Answer> & {
      write(request: object): void;
      end(): void;
    };
    stream.write(request);
    const [answer] = await once(stream, 'data');
    stream.end();
    client.close();
    return answer;
  }

  test('lists the services, and describes every method of them', async () => {
    const { service } = await start();
    const list = await ask(service.grpcPort, { list_services: '*' });
    const names = list.list_services_response!.service.map(({ name }) => name);
    expect(names.sort()).toStrictEqual(
      [...SERVICES.map(({ typeName }) => typeName), 'grpc.health.v1.Health'].sort(),
    );
    for (const { typeName, methods: expected } of SERVICES) {
      const { file_descriptor_response: found } = await ask(service.grpcPort, {
        file_containing_symbol: typeName,
      });
      const files = found!.file_descriptor_proto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
      const described = files
        .flatMap((file) => file.service)
        .find((each) => typeName.endsWith(`.${each.name}`))!;
      expect(described.method.map(({ name }) => name)).toStrictEqual(expected.map(({ name }) => name));
    }
    for (const symbol of ['grpc.health.v1.Health', 'google.rpc.ErrorInfo', 'google.rpc.BadRequest']) {
      const { file_descriptor_response: found } = await ask(service.grpcPort, {
        file_containing_symbol: symbol,
      });
      const [file] = found!.file_descriptor_proto.map((bytes) =>
        fromBinary(FileDescriptorProtoSchema, bytes),
      );
      const names = [...file!.service, ...file!.messageType].map(({ name }) => `${file!.package}.${name}`);
      expect(names).toContain(symbol);
      // Readers reject a file whose map entries have another name.
      const nested = file!.messageType.flatMap(({ nestedType }) => nestedType);
      const entries = nested.filter(({ options }) => options?.mapEntry).map(({ name }) => name);
      expect(entries).toStrictEqual([symbol.startsWith('grpc') ? 'StatusesEntry' : 'MetadataEntry']);
    }
    const { error_response: error } = await ask(service.grpcPort, { file_containing_symbol: 'no.Such' });
    expect(error!.error_code).toBe(status.NOT_FOUND);
  });
});

test('every answer has a request id of its own', async () => {
  const { service, world } = await start();
  const client = open(service.grpcPort);
  const endings = [
    await call(client, 'RoomService.ListRooms', world),
    await call(client, 'RoomService.WatchEvents', world),
    await call(client, 'RoomService.GetRoom', world, { room: 'live-absent' }),
  ];
  expect(endings.map(({ code }) => code)).toStrictEqual(['OK', 'OK', 'NOT_FOUND']);
  for (const { requestId } of endings) expect(requestId).toMatch(/^req_[0-9a-f]{32}$/);
  expect(new Set(endings.map(({ requestId }) => requestId)).size).toBe(3);
});

describe('when the service stops', () => {
  test('calls that are under way are answered, streams end, and new calls are refused', async () => {
    const { service, world, stop } = await start();
    const client = open(service.grpcPort);
    const watch = methodOf('RoomService.WatchEvents');
    const stream = client.makeServerStreamRequest(
      `/${watch.parent.typeName}/${watch.name}`,
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => bytes,
      encode(watch, { tenant: world.id }),
      metadataOf(`Bearer ${world.keys.backend}`),
    );
    const ended = once(stream, 'error');
    await once(stream, 'data');
    stream.resume();
    const holder = await openHolder(database.pool);
    // A room without watchdogs, which would wait for the room's row too.
    await holder.query(`select from rooms where tenant_id = $1 and name = 'other' for update`, [
      world.tenant,
    ]);
    const ending = call(client, 'RoomService.EndRoom', world, { room: 'other' });
    await expect.poll(() => waiting()).toBe(1);

    const stopped = stop();
    const [error] = await ended;
    expect(error).toMatchObject({ code: status.UNAVAILABLE, details: 'the service stops: resume elsewhere' });
    expect(error.metadata.get('grpc-status-details-bin')).toHaveLength(1);
    const late = open(service.grpcPort);
    expect((await call(late, 'RoomService.ListRooms', world)).code).toBe('UNAVAILABLE');
    await holder.release();
    expect(await ending).toMatchObject({ code: 'OK' });
    await stopped;
  });

  /** Statements that wait for a lock of this test. */
  const waiting = () => countLockWaiters(database.pool);
});

describe('TLS', () => {
  test('is the only protocol if a certificate is set', async () => {
    const { service, world } = await start({ tls: TLS });
    const certificate = await readFile(TLS.certificateFile);
    const safe = open(service.grpcPort, credentials.createSsl(certificate));
    expect(await call(safe, 'RoomService.ListRooms', world)).toMatchObject({ code: 'OK' });
    const strange = open(service.grpcPort, credentials.createSsl());
    expect((await call(strange, 'RoomService.ListRooms', world)).code).toBe('UNAVAILABLE');
    const plain = open(service.grpcPort);
    expect((await call(plain, 'RoomService.ListRooms', world)).code).toBe('UNAVAILABLE');
  });

  test('a missing or wrong file is reported in one line', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'boxoffice-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const other = join(folder, 'other.pem');
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await writeFile(other, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const saying = (tls: Partial<typeof TLS>) =>
      startService({ ...bareConfig(database.url), tls: { ...TLS, ...tls } }, pino({ level: 'silent' })).then(
        () => 'started',
        (error: Error) => `${error.name}: ${error.message}`,
      );
    const absent = join(folder, 'absent.pem');
    expect(await saying({ certificateFile: absent })).toMatch(
      /^StartError: TLS_CERT cannot be read: ENOENT.*$/,
    );
    expect(await saying({ keyFile: absent })).toMatch(/^StartError: TLS_KEY cannot be read: ENOENT.*$/);
    const unfit = /^StartError: TLS_CERT and TLS_KEY are no certificate and its key: .*$/;
    expect(await saying({ certificateFile: other })).toMatch(unfit);
    expect(await saying({ keyFile: other })).toMatch(unfit);
    expect(await saying({ keyFile: TLS.certificateFile })).toMatch(unfit);
  });
});

test('a port in use is reported in one line', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void holder.close());
  await once(holder, 'listening');
  const { port } = holder.address() as AddressInfo;
  const starting = startService({ ...bareConfig(database.url), grpcPort: port }, pino({ level: 'silent' }));
  await expect(starting).rejects.toThrow(`port ${port} is taken: set GRPC_PORT to another one`);
});

describe('the log', () => {
  test('holds each call, and no secret of it', async () => {
    const lines: string[] = [];
    const log = makeLog('trace', { write: (line: string) => void lines.push(line) });
    const { service, world } = await start({}, log);
    const client = open(service.grpcPort);
    const { backend } = world.keys;
    const plain = (bytes: Buffer) => bytes;
    const answers: Buffer[] = [];
    for (const name of ['TokenService.MintClientToken', 'TokenService.CreateDeviceCredential']) {
      const method = methodOf(name);
      const bytes = encode(method, { tenant: world.id, ...VALID[name]!(world) });
      const path = `/${method.parent.typeName}/${method.name}`;
      const metadata = metadataOf(`Bearer ${backend}`);
      answers.push(
        await new Promise((resolve, reject) => {
          client.makeUnaryRequest(path, plain, plain, bytes, metadata, (error, answer) =>
            error ? reject(error) : resolve(answer!),
          );
        }),
      );
    }
    // Keys in the wrong places, and a database that refuses.
    await call(client, 'RoomService.GetRoom', world, { room: backend });
    await call(client, 'RoomService.CreateRoom', world, { room: 'another', idempotencyKey: backend });
    await call(client, 'ModerationService.KickParticipant', world, { room: 'live', username: backend });
    await database.pool.query('alter table rooms rename to lost');
    const failed = await call(client, 'RoomService.ListRooms', world);
    await database.pool.query('alter table lost rename to rooms');
    expect(failed.code).toBe('INTERNAL');

    const text = lines.join('');
    expect(text).toContain('"method":"/boxoffice.control.v1.TokenService/MintClientToken","code":"OK"');
    expect(text).toContain(failed.requestId);
    const [token, credential] = [/eyJ[\w-]+\.[\w-]+\.([\w-]+)/, /dev_[0-9a-f]{16}_([\w-]{43})/].map(
      (pattern, at) => pattern.exec(answers[at]!.toString('latin1'))![1]!,
    );
    for (const secret of [backend, backend.slice(-43), token!, credential!])
      expect(text).not.toContain(secret);
  });
});

describe('the address of a caller', () => {
  const from = (peer: string, forwarded: readonly string[], trusted: readonly string[]) => {
    const metadata = new Metadata();
    for (const each of forwarded) metadata.add('x-forwarded-for', each);
    return clientAddress(
      { getPeer: () => peer, metadata },
      trusted.map((each) => parseRange(each)!),
    );
  };

  test.each([
    ['the peer, if no proxy is trusted', '203.0.113.1:5', ['198.51.100.1'], [], '203.0.113.1:5'],
    [
      'the address that a trusted proxy names',
      '10.0.0.1:5',
      ['198.51.100.1'],
      ['10.0.0.0/8'],
      '198.51.100.1',
    ],
    ['the last untrusted address', '10.0.0.1:5', ['1.1.1.1, 198.51.100.1'], ['10.0.0.1'], '198.51.100.1'],
    ['past trusted proxies', '10.0.0.1:5', ['198.51.100.1, 10.0.0.2'], ['10.0.0.0/8'], '198.51.100.1'],
    ['over several headers', '10.0.0.1:5', ['198.51.100.1', '10.0.0.2'], ['10.0.0.0/8'], '198.51.100.1'],
    ['the proxy, if it names no address', '10.0.0.1:5', [], ['10.0.0.0/8'], '10.0.0.1:5'],
    ['text that is not an address, unchanged', '10.0.0.1:5', ['unknown'], ['10.0.0.0/8'], 'unknown'],
    ['of IPv6', '[2001:db8::1]:5', ['2001:db8:1::1'], ['2001:db8::/48'], '2001:db8:1::1'],
    [
      'of IPv4 in the clothes of IPv6',
      '[::ffff:10.0.0.1]:5',
      ['198.51.100.1'],
      ['10.0.0.0/8'],
      '198.51.100.1',
    ],
  ])('is %s', (_what, peer, forwarded, trusted, address) => {
    expect(from(peer, forwarded, trusted)).toBe(address);
  });
});
