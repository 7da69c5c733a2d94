/** Back ends that read and create rooms over gRPC. */
import { randomUUID } from 'node:crypto';
import { ListParticipantsRequestSchema } from '@boxoffice/contract/participant_service';
import {
  CreateRoomRequestSchema,
  GetRoomRequestSchema,
  ListRoomsRequestSchema,
} from '@boxoffice/contract/room_service';
import { create, toBinary } from '@bufbuild/protobuf';
import { type Client, Metadata } from '@grpc/grpc-js';
import { newId } from '../src/base/lib/ids.ts';
import { renderTenantId } from '../src/base/tenants/tenant.ts';
import type { BareMethod } from './bare-grpc.ts';
import type { Bench, Benchmark, Contestant, TimedRounds } from './benchmark.ts';
import { type CallSide, CONNECTIONS_MAX, call, calling, openClients } from './calls.ts';
import { fillOtherTenants, fillRooms } from './reads-rows.ts';
import {
  type BenchTenant,
  findPostmaster,
  makeBenchTenant,
  openProcess,
  openStand,
  type Stand,
} from './stand.ts';

const IN_FLIGHT = [32, 1];
const ROUNDS: TimedRounds = { warmUp: 3_000, seconds: 1.5 };
/** Several, because a tenant has at most eight calls in flight. */
const TENANTS = 16;
const ROOMS = 60;
const ROOMS_LISTED = 50;
const PARTICIPANTS = 20;

export const reads: Benchmark = {
  name: 'reads',
  summary:
    'GetRoom, ListParticipants, ListRooms and CreateRoom, compared with bare grpc-js and one statement',
  protocol: `${TENANTS} tenants call in turns, for ${ROUNDS.seconds} s a round, each call as soon as one
    of those in flight has its answer, over ${CONNECTIONS_MAX} connections (one, with one call in
    flight). Each tenant has ${ROOMS} rooms of ${PARTICIPANTS} participants, and other tenants have
    100,000 rooms. ListParticipants reads the ${PARTICIPANTS} of a room, ListRooms ${ROOMS_LISTED}
    rooms. CreateRoom creates a new room, with an idempotency key, as the SDK sends it, or without. Ours
    is the whole service in one process. The floor is plain grpc-js, in a process of its own, which is
    sent as many bytes and answers as many. It checks no key, encodes nothing, and runs one prepared
    statement: a SELECT of what the answer says, or an INSERT of one row into a table with a
    primary key. Both have a pool of 20 connections on the same PostgreSQL. The client is grpc-js, in
    the process of the benchmark, and decodes nothing. The result is OK answers per second. Each side
    gets ${ROUNDS.warmUp} calls first. CPU is per call, medians of the rounds (Linux only).`,
  async run(bench) {
    const stand = await openStand(bench);
    bench.progress('making rooms of other tenants');
    await fillOtherTenants(stand);
    const sides = await openReads(bench, stand);
    for (const method of METHODS) {
      for (const inFlight of IN_FLIGHT) {
        await bench.compare({
          title: `${method.name}, ${inFlight} in flight`,
          unit: 'calls/s',
          contestants: [
            await reading(bench, sides.bare, { method, inFlight }),
            await reading(bench, sides.ours, { method, inFlight }),
          ],
          warmUpRounds: 0,
          goals: [{ of: 'boxoffice', to: 'bare', atLeast: method.goal }],
        });
      }
    }
  },
};

interface ReadSide extends CallSide {
  readonly url: string;
  readonly callers: readonly Caller[];
  readonly send: Send;
}

/** The rooms of the callers only; for those of other tenants see `fillOtherTenants`. */
export async function openReads(bench: Bench, stand: Stand): Promise<Record<'ours' | 'bare', ReadSide>> {
  bench.progress('making rooms');
  const callers = await makeCallers(stand);
  const service = await openProcess(bench, stand, './service.ts', { BENCH_PORT: 'grpc' });
  const answers = await answersOf(bench, service.url, callers[0]!);
  const bare = await openProcess(bench, stand, './bare-grpc.ts', {
    BENCH_METHODS: JSON.stringify(METHODS.map((method) => bareMethod(method, answers.get(method)!))),
  });
  const postmaster = await findPostmaster(stand);
  return {
    ours: { ...service, name: 'boxoffice', role: 'ours', postmaster, callers, send: sendOurs },
    bare: { ...bare, name: 'bare', role: 'floor', postmaster, callers, send: sendBare },
  };
}

export async function reading(
  bench: Bench,
  side: ReadSide,
  { method, inFlight }: { readonly method: Method; readonly inFlight: number },
  rounds: TimedRounds = ROUNDS,
): Promise<Contestant> {
  const { url, callers, send } = side;
  const clients = await openClients(bench, url, inFlight);
  const one = (client: Client, index: number) =>
    send(client, method, callers[index % callers.length]!, index);
  return calling(side, { clients, inFlight, one }, rounds);
}

/** The back end of a tenant. */
interface Caller extends BenchTenant {
  readonly tenantId: string;
  readonly metadata: Metadata;
}

export interface Method {
  readonly name: string;
  readonly path: string;
  readonly goal: number;
  readonly request: (caller: Caller, at: number) => Uint8Array;
  /** The statement of the floor, and its values. */
  readonly text: string;
  readonly values: (caller: Caller, at: number) => string;
}

const SERVICE = '/boxoffice.control.v1';

/** A room with the number of participants, as answers have it. */
const ROOM = `r.uid, r.name, r.state, r.policy, r.created_at, r.metadata,
  (select count(*) from participants p
    where p.tenant_id = r.tenant_id and p.room_uid = r.uid and p.left_at is null and p.expires_at > now())
  from rooms r`;

const CREATING_ROOMS = {
  path: `${SERVICE}.RoomService/CreateRoom`,
  goal: 0.3,
  text: 'insert into bench_rooms (tenant_id, uid, name) values ($1, $2, $3)',
  values: ({ tenant }: Caller, at: number) => `${tenant} ${newId('rm')} new-${at}`,
};

export const GET_ROOM: Method = {
  name: 'GetRoom',
  path: `${SERVICE}.RoomService/GetRoom`,
  goal: 0.5,
  request: ({ tenantId: tenant }, at) =>
    toBinary(GetRoomRequestSchema, create(GetRoomRequestSchema, { tenant, room: roomAt(at) })),
  text: `select ${ROOM} where r.tenant_id = $1 and r.name = $2 order by r.incarnation desc limit 1`,
  values: ({ tenant }, at) => `${tenant} ${roomAt(at)}`,
};

/** With an idempotency key, as the SDK sends it. */
export const CREATE_ROOM: Method = {
  ...CREATING_ROOMS,
  name: 'CreateRoom',
  request: ({ tenantId }) => createRoomBytes(tenantId, randomUUID()),
};

/** The reads come first: they find what was there from the beginning. */
const METHODS: readonly Method[] = [
  GET_ROOM,
  {
    name: `ListParticipants of ${PARTICIPANTS}`,
    path: `${SERVICE}.ParticipantService/ListParticipants`,
    goal: 0.5,
    request: ({ tenantId: tenant }, at) =>
      toBinary(
        ListParticipantsRequestSchema,
        create(ListParticipantsRequestSchema, { tenant, room: roomAt(at) }),
      ),
    text: `select p.username, p.role, p.rank, p.capabilities, p.entered_at, p.expires_at,
                  (select json_agg(json_build_array(a.device, a.key_id, a.expires_at)) from admissions a
                    where a.tenant_id = p.tenant_id and a.room_uid = p.room_uid and a.username = p.username)
             from participants p
            where p.tenant_id = $1 and p.left_at is null and p.expires_at > now()
              and p.room_uid = (select uid from rooms where tenant_id = $1 and name = $2 and state = 'LIVE')
            order by p.username limit 51`,
    values: ({ tenant }, at) => `${tenant} ${roomAt(at)}`,
  },
  {
    name: `ListRooms of ${ROOMS_LISTED}`,
    path: `${SERVICE}.RoomService/ListRooms`,
    goal: 0.5,
    request: ({ tenantId: tenant }) =>
      toBinary(ListRoomsRequestSchema, create(ListRoomsRequestSchema, { tenant, pageSize: ROOMS_LISTED })),
    text: `select ${ROOM} where r.tenant_id = $1 order by r.created_at desc, r.uid desc limit 51`,
    values: ({ tenant }) => String(tenant),
  },
  CREATE_ROOM,
  {
    ...CREATING_ROOMS,
    name: 'CreateRoom without a key',
    request: ({ tenantId }) => createRoomBytes(tenantId, ''),
  },
];

const roomAt = (at: number) => `room-${at % ROOMS}`;

/** Names differ between runs of the same benchmark, too. */
function createRoomBytes(tenant: string, idempotencyKey: string): Uint8Array {
  const request = { tenant, room: `new-${randomUUID()}`, idempotencyKey };
  return toBinary(CreateRoomRequestSchema, create(CreateRoomRequestSchema, request));
}

async function makeCallers(stand: Stand): Promise<Caller[]> {
  const tenants = await Promise.all(Array.from({ length: TENANTS }, () => makeBenchTenant(stand, 'backend')));
  const ids = tenants.map(({ tenant }) => tenant);
  await fillRooms(stand, ids, { rooms: ROOMS, participantsPerRoom: PARTICIPANTS });
  await stand.db.query(`update tenants set limits = limits || '{"rooms": 1000000}' where id = any($1)`, [
    ids,
  ]);
  await stand.db.query(`create table bench_rooms (
    tenant_id bigint not null, uid text not null, name text not null, primary key (tenant_id, uid))`);
  await stand.db.query('vacuum analyze');
  return tenants.map((tenant) => {
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${tenant.key}`);
    return { ...tenant, tenantId: renderTenantId(tenant.tenant), metadata };
  });
}

/** The answer of the service to one call of each method, in bytes. */
async function answersOf(bench: Bench, url: string, caller: Caller): Promise<Map<Method, number>> {
  const answers = new Map<Method, number>();
  const [client] = await openClients(bench, url, 1);
  for (const method of METHODS) {
    const answer = await sendOurs(client!, method, caller, 0);
    answers.set(method, answer.length);
    bench.note(`${method.name}, answer`, answer.length, 'bytes');
  }
  return answers;
}

function bareMethod({ name, text }: Method, answerBytes: number): BareMethod {
  return { name: bareName(name), text, answerBytes };
}

const bareName = (name: string) => name.replaceAll(' ', '-');

type Send = (client: Client, method: Method, caller: Caller, at: number) => Promise<Buffer>;

const sendOurs: Send = (client, { path, request }, caller, at) =>
  call(client, path, Buffer.from(request(caller, at)), caller.metadata);

/** The values, in as many bytes as our request has. */
const sendBare: Send = (client, { name, request, values }, caller, at) => {
  const bytes = Buffer.from(values(caller, at).padEnd(request(caller, at).length));
  return call(client, `/bench.Bare/${bareName(name)}`, bytes, caller.metadata);
};
