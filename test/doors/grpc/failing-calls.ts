/** Makes calls that meet given conditions, over a real connection, and reads their failures completely. */
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
  StatusSchema,
} from '@boxoffice/contract/google/rpc/error_details';
import {
  type AnyDesc,
  create,
  type DescMethod,
  fromBinary,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect } from 'vitest';
import { nameOf } from '../../../scripts/error-table.ts';
import type { TestService } from '../../support/service.ts';
import { limitedCaller } from '../../support/tenants.ts';
import { type Fields, VALID, type Way, type WorldName, type Worlds } from './conditions.ts';
import { makeWorld, type World, type WorldOptions } from './world.ts';

/** The outcome of a call. */
export interface Ending {
  readonly code: string;
  readonly message: string;
  /** From the headers, or from the trailers if there are none. */
  readonly requestId: string | undefined;
  readonly info: MessageShape<typeof ErrorInfoSchema> | undefined;
  readonly fields: readonly string[];
  /** What the fields accept. */
  readonly descriptions: readonly string[];
  readonly violations: readonly string[];
  /** Subjects of the violations. */
  readonly subjects: readonly string[];
  /** In milliseconds. */
  readonly retryDelayMs: number | undefined;
  /** Names of all details, in order. */
  readonly details: readonly string[];
}

const OPTIONS: Readonly<Record<WorldName, WorldOptions>> = {
  usual: {},
  foreign: { isForeign: true },
  deleted: { status: 'deleted' },
  suspended: { status: 'suspended' },
  archived: { status: 'archived' },
  pending: { status: 'pending', credit: false },
  spent: { credit: false },
  budgeted: { budget: 0n },
  crowded: { addressBans: 999 },
  watched: {},
  // As many as each world has.
  full: { limits: { rooms: 5, watchdogs: 1, bans: 4, device_credentials: 1, budgets: 1 } },
  packed: { limits: { room_watchdogs: 1 } },
};

const BLOCKED_ADDRESS = '203.0.113.1';

export interface Calls {
  readonly worlds: Worlds;
  /** One call that combines `ways`; `world` replaces the usual one. */
  call(method: DescMethod, ways: readonly Way[], world?: World): Promise<Ending>;
}

export function useCalls(app: TestService): Calls {
  let client: Client;
  let worlds: Worlds;
  let calls = 0;

  beforeAll(async () => {
    client = new Client(`127.0.0.1:${app.service.grpcPort}`, credentials.createInsecure());
    const { db } = app.service.deps;
    const made = await Promise.all(
      Object.entries(OPTIONS).map(async ([name, options]) => [name, await makeWorld(db, options)]),
    );
    worlds = Object.fromEntries(made);
    for (let count = 0; count < 100; count += 1)
      app.service.deps.streams.enter(limitedCaller(worlds.watched.tenant));
    await block();
  });
  afterAll(() => client.close());

  /** Use up an address's wrong keys, for longer than a minute, so that a minute may end during a test. */
  const block = async () => {
    const { db, failedKeys } = app.service.deps;
    await db.query('insert into rate_limits (key, points, expire) values ($1, 100, $2)', [
      `failed_keys:${BLOCKED_ADDRESS}`,
      Date.now() + 3_600_000,
    ]);
    expect(await failedKeys.count(BLOCKED_ADDRESS, '0'.repeat(16))).toMatchObject({
      kind: 'too_many_failed_keys',
    });
  };

  return {
    get worlds() {
      return worlds;
    },
    call: async (method, ways, usual = worlds.usual) => {
      const world = worldOf(ways, { ...worlds, usual });
      const bytes =
        ways.find((way) => way.bytes)?.bytes ?? encode(method, fieldsOf(method, ways, world, worlds));
      const key = ways.find((way) => way.key)?.key ?? 'backend';
      const authorization = ways.find((way) => way.authorization !== undefined)?.authorization;
      calls += 1;
      // Each from an address of its own, so that wrong keys do not accumulate.
      const address = `10.${calls >> 16}.${(calls >> 8) & 255}.${calls & 255}`;
      const metadata = metadataOf(authorization === undefined ? `Bearer ${world.keys[key]}` : authorization);
      const isBlocked = ways.some((way) => way.fromBlocked);
      metadata.set('x-forwarded-for', isBlocked ? BLOCKED_ADDRESS : address);
      return send(client, method, bytes, metadata);
    },
  };
}

function worldOf(ways: readonly Way[], worlds: Worlds): World {
  return worlds[ways.find((way) => way.world)?.world ?? 'usual'];
}

/** A request that succeeds, with the changes of all `ways`. */
export function fieldsOf(method: DescMethod, ways: readonly Way[], world: World, worlds: Worlds): Fields {
  let fields: Fields = { tenant: world.id, ...VALID[nameOf(method)]!(world) };
  for (const way of ways) fields = { ...fields, ...way.fields?.(fields, { worlds, method }) };
  return fields;
}

export function metadataOf(authorization: string | null): Metadata {
  const metadata = new Metadata();
  if (authorization !== null) metadata.set('authorization', authorization);
  return metadata;
}

export function encode(method: DescMethod, fields: Fields): Buffer {
  return Buffer.from(toBinary(method.input, create(method.input, fields as never)));
}

/** Resolves at the answer, the first message of a stream, or the failure. */
export function send(
  client: Client,
  method: DescMethod,
  bytes: Buffer,
  metadata: Metadata,
  options: { deadline?: number } = {},
): Promise<Ending> {
  const path = `/${method.parent.typeName}/${method.name}`;
  const same = (message: Buffer) => message;
  let head: Metadata | undefined;
  return new Promise((resolve) => {
    const end = (error: ServiceError | null) => resolve(endingOf(error, head));
    if (method.methodKind === 'server_streaming') {
      const stream = client.makeServerStreamRequest(path, same, same, bytes, metadata, options);
      stream.on('metadata', (received: Metadata) => {
        head = received;
      });
      stream.on('data', () => {
        stream.cancel();
        end(null);
      });
      stream.on('error', (error: ServiceError) => end(error));
      stream.on('end', () => end(null));
    } else {
      const sent = client.makeUnaryRequest(path, same, same, bytes, metadata, options, (error) => end(error));
      sent.on('metadata', (received) => {
        head = received;
      });
    }
  });
}

function endingOf(error: ServiceError | null, head: Metadata | undefined): Ending {
  const [bytes] = error?.metadata.get('grpc-status-details-bin') ?? [];
  const whole = bytes ? fromBinary(StatusSchema, bytes as Buffer) : undefined;
  const find = <S extends Parameters<typeof anyUnpack>[1] & AnyDesc>(schema: S) =>
    whole?.details.map((any) => anyUnpack(any, schema)).find(Boolean) as MessageShape<S> | undefined;
  const fieldViolations = find(BadRequestSchema)?.fieldViolations ?? [];
  const violations = find(PreconditionFailureSchema)?.violations ?? [];
  const delay = find(RetryInfoSchema)?.retryDelay;
  return {
    code: status[error?.code ?? status.OK]!,
    message: error?.details ?? '',
    requestId: (head ?? error?.metadata)?.get('x-request-id')[0]?.toString(),
    info: find(ErrorInfoSchema),
    fields: fieldViolations.map(({ field }) => field),
    descriptions: fieldViolations.map(({ description }) => description),
    violations: violations.map(({ type }) => type),
    subjects: violations.map(({ subject }) => subject),
    retryDelayMs: delay && Number(delay.seconds) * 1000 + delay.nanos / 1_000_000,
    details: whole?.details.map(({ typeUrl }) => typeUrl.split('.').at(-1)!) ?? [],
  };
}
