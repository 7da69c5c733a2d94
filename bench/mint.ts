/** Back ends that mint tokens over gRPC. */
import {
  MintClientTokenRequestSchema,
  MintClientTokenResponseSchema,
} from '@boxoffice/contract/token_service';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { type Client, Metadata } from '@grpc/grpc-js';
import { renderTenantId } from '../src/base/tenants/tenant.ts';
import { openFirstRoom } from '../src/control/admission/open-first-room.sql.ts';
import { adjustCredit } from '../src/money/ledger/adjust-credit.ts';
import type { BareMethod } from './bare-grpc.ts';
import type { Bench, Benchmark, Contestant, Goal, TimedRounds } from './benchmark.ts';
import { type CallSide, CONNECTIONS_MAX, call, calling, openClients } from './calls.ts';
import {
  type BenchTenant,
  findPostmaster,
  makeBenchTenant,
  openProcess,
  openStand,
  type Stand,
} from './stand.ts';

const IN_FLIGHT = [32, 1];
const ROUNDS: TimedRounds = { warmUp: 3_000, seconds: 2 };
/** Users who are present after the warm-up, and only renew. Newcomers are new users each time. */
const RENEWING = 1_000;
const ROOMS = 100;
const MINT = '/boxoffice.control.v1.TokenService/MintClientToken';
const BARE = 'bare, one SELECT and one signature';
const DEVICE = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs';

const GOALS: readonly Goal[] = [
  { of: 'renewals', to: BARE, atLeast: 0.5 },
  { of: 'newcomers', to: BARE, atLeast: 0.3 },
];

export const mint: Benchmark = {
  name: 'mint',
  summary:
    'MintClientToken over gRPC, compared with bare grpc-js: with one SELECT and one signature, and an echo',
  protocol: `One tenant mints tokens for users in ${ROOMS} rooms in turns, for ${ROUNDS.seconds} s a
    round, each call as soon as one of those in flight has its answer, over ${CONNECTIONS_MAX}
    connections (one, with one call in flight): for ${RENEWING} users again and again, and for new
    users. Each contestant gets ${ROUNDS.warmUp} calls first. Ours is the whole service in one process:
    it finds the key and what lets the user in, admits the user, and signs. The floor is plain grpc-js,
    in a process of its own, with one unary method that is sent as many bytes and answers as many: it
    finds the key by its id with one prepared SELECT, and signs as many bytes as a token of ours has.
    The bare echo does neither and has no database. The client is grpc-js, in the
    process of the benchmark, and reads no message. The result is OK answers per second. CPU is per
    call, medians of the rounds (Linux only).`,
  async run(bench) {
    const stand = await openStand(bench);
    const mints = await openMints(bench, stand);
    const echo = await openEcho(bench, stand, mints);
    for (const inFlight of IN_FLIGHT) {
      await bench.compare({
        title: `${inFlight} in flight`,
        unit: 'calls/s',
        contestants: [
          await minting(bench, echo, inFlight),
          await minting(bench, mints.bare, inFlight),
          await minting(bench, mints.renewals, inFlight),
          await minting(bench, mints.newcomers, inFlight),
        ],
        warmUpRounds: 0,
        ...(inFlight > 1 && { goals: GOALS }),
      });
    }
    bench.note('request', mints.renewals.request(0).length, 'bytes');
    bench.note('answer', mints.answer.length, 'bytes');
  },
};

/** Who answers, and what it is sent. */
interface MintSide extends CallSide {
  readonly url: string;
  readonly path: string;
  readonly metadata: Metadata;
  readonly request: (index: number) => Buffer;
}

export interface Mints {
  readonly renewals: MintSide;
  readonly newcomers: MintSide;
  /** One SELECT and one signature. */
  readonly bare: MintSide;
  readonly answer: Buffer;
}

/** `prepare`: what the tenant has, other than credit and rooms. */
export async function openMints(
  bench: Bench,
  stand: Stand,
  prepare?: (backend: BenchTenant) => Promise<unknown>,
): Promise<Mints> {
  bench.progress('making rooms');
  const backend = await makeBackend(stand);
  await prepare?.(backend);
  const tenantId = renderTenantId(backend.tenant);
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${backend.key}`);
  const postmaster = await findPostmaster(stand);
  const service = await openProcess(bench, stand, './service.ts', { BENCH_PORT: 'grpc' });
  const ours = { ...service, role: 'ours', postmaster, path: MINT, metadata } as const;
  const requests = Array.from({ length: RENEWING }, (_, user) => requestBytes(tenantId, user));
  const renewals: MintSide = { ...ours, name: 'renewals', request: (index) => requests[index % RENEWING]! };
  let users = RENEWING;
  const newcomers: MintSide = { ...ours, name: 'newcomers', request: () => requestBytes(tenantId, users++) };

  const [first] = await openClients(bench, service.url, 1);
  const answer = await call(first!, MINT, requests[0]!, metadata);
  return {
    renewals,
    newcomers,
    answer,
    bare: await openBare(bench, stand, backend, { ...renewals, answer }),
  };
}

/** The request is the id of a key, in as many bytes as ours. */
async function openBare(
  bench: Bench,
  stand: Stand,
  { keyId }: BenchTenant,
  { request, metadata, postmaster, answer }: MintSide & { readonly answer: Buffer },
): Promise<MintSide> {
  const { token } = fromBinary(MintClientTokenResponseSchema, answer);
  const method: BareMethod = {
    name: 'Mint',
    text: 'select tenant_id as tenant, kind from api_keys where id = $1',
    signedBytes: token.lastIndexOf('.'),
    answerBytes: answer.length,
  };
  const bare = await openProcess(bench, stand, './bare-grpc.ts', { BENCH_METHODS: JSON.stringify([method]) });
  const bytes = Buffer.from(keyId.padEnd(request(0).length));
  const path = `/bench.Bare/${method.name}`;
  return { ...bare, name: BARE, role: 'floor', postmaster, path, metadata, request: () => bytes };
}

async function openEcho(bench: Bench, stand: Stand, { renewals, answer }: Mints): Promise<MintSide> {
  const environment = { BENCH_ANSWER_BYTES: String(answer.length) };
  const echo = await openProcess(bench, stand, './bare-echo.ts', environment);
  return { ...renewals, ...echo, name: 'bare echo', role: 'peer', path: '/bench.Echo/Echo' };
}

export async function minting(
  bench: Bench,
  side: MintSide,
  inFlight: number,
  rounds: TimedRounds = ROUNDS,
): Promise<Contestant> {
  const { url, path, metadata, request } = side;
  const clients = await openClients(bench, url, inFlight);
  const one = (client: Client, index: number) => call(client, path, request(index), metadata);
  return calling(side, { clients, inFlight, one }, rounds);
}

/** A tenant that has credit and rooms. */
async function makeBackend(stand: Stand): Promise<BenchTenant> {
  const backend = await makeBenchTenant(stand, 'backend');
  await adjustCredit(stand.db, { kind: 'operator', id: 'bench' }, backend.tenant, {
    amount: 20_000_000n,
    reason: 'bench',
    id: undefined,
  });
  for (let room = 0; room < ROOMS; room += 1) {
    await openFirstRoom(stand.db, backend.tenant, `room-${room}`);
  }
  return backend;
}

function requestBytes(tenant: string, user: number): Buffer {
  const request = create(MintClientTokenRequestSchema, {
    tenant,
    room: `room-${user % ROOMS}`,
    username: `user-${user}`,
    deviceThumbprint: DEVICE,
  });
  return Buffer.from(toBinary(MintClientTokenRequestSchema, request));
}
