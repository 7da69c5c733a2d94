/** Back ends that mint tokens over gRPC. */
import {
  MintClientTokenRequestSchema,
  MintClientTokenResponseSchema,
} from '@boxoffice/contract/token_service';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { renderTenantId } from '../src/base/tenants/tenant.ts';
import { openFirstRoom } from '../src/control/admission/open-first-room.sql.ts';
import { adjustCredit } from '../src/money/ledger/adjust-credit.ts';
import type { BareMethod } from './bare-grpc.ts';
import type { Bench, Benchmark, Contestant } from './benchmark.ts';
import { makeBenchTenant, openProcess, openStand, type Stand } from './stand.ts';

const IN_FLIGHT = [32, 1];
/** Connections that share the calls in flight: a back end has few. */
const CONNECTIONS = 4;
const SECONDS_PER_ROUND = 2;
/** Users who are present after the warm-up, and only renew. Newcomers are new users each time. */
const RENEWING = 1_000;
const ROOMS = 100;
const DEVICE = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs';

export const mint: Benchmark = {
  name: 'mint',
  summary:
    'MintClientToken over gRPC, compared with bare grpc-js: with one SELECT and one signature, and an echo',
  protocol: `One tenant mints tokens for users in ${ROOMS} rooms in turns, for ${SECONDS_PER_ROUND} s a round, each call as soon as
    one of those in flight has its answer, over ${CONNECTIONS} connections (one, with one call in flight): for
    ${RENEWING} users again and again, and for new users. Ours is the whole service in one process: it finds the key and what lets the user in, admits
    the user, and signs. The floor is plain grpc-js, in a process of its own, with one unary method that is sent as
    many bytes and answers as many: it finds the key by its primary key with one prepared SELECT and signs as many
    bytes with ES256. The bare echo does neither and has no database. The client is grpc-js, in the
    process of the benchmark, and reads no message. The result is OK answers per second.`,
  async run(bench) {
    const stand = await openStand(bench);
    bench.progress('making rooms');
    const { key, keyId, tenantId } = await makeRooms(stand);
    const service = await openProcess(bench, stand, './service.ts', { BENCH_PORT: 'grpc' });
    const renewals = Array.from({ length: RENEWING }, (_, at) => requestBytes(tenantId, at));
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${key}`);
    const path = '/boxoffice.control.v1.TokenService/MintClientToken';

    const [first] = await openClients(bench, service.url, 1);
    const answer = await call(first!, path, renewals[0]!, metadata);
    let newcomers = RENEWING;
    const echo = await openProcess(bench, stand, './bare-echo.ts', {
      BENCH_ANSWER_BYTES: String(answer.length),
    });
    const signing = await openProcess(bench, stand, './bare-grpc.ts', {
      BENCH_METHODS: JSON.stringify([bareMint(answer)]),
    });
    const keyBytes = Buffer.from(keyId.padEnd(renewals[0]!.length));
    for (const inFlight of IN_FLIGHT) {
      const connections = Math.min(CONNECTIONS, inFlight);
      const signer = await openClients(bench, signing.url, connections);
      const bare = await openClients(bench, echo.url, connections);
      const ours = await openClients(bench, service.url, connections);
      await bench.compare({
        title: `${inFlight} in flight`,
        unit: 'calls/s',
        contestants: [
          calls('SELECT and signature', 'floor', signer, inFlight, (client) =>
            call(client, '/bench.Bare/mint', keyBytes, metadata),
          ),
          calls('bare echo', 'peer', bare, inFlight, (client, at) =>
            call(client, '/bench.Echo/Echo', renewals[at % RENEWING]!, metadata),
          ),
          calls('renewals', 'ours', ours, inFlight, (client, at) =>
            call(client, path, renewals[at % RENEWING]!, metadata),
          ),
          calls('newcomers', 'ours', ours, inFlight, (client) =>
            call(client, path, requestBytes(tenantId, newcomers++), metadata),
          ),
        ],
      });
    }
    bench.note('request', renewals[0]!.length, 'bytes');
    bench.note('answer', answer.length, 'bytes');
  },
};

/** Rooms of a tenant that has credit. */
async function makeRooms(stand: Stand): Promise<{ key: string; keyId: string; tenantId: string }> {
  const { tenant, key, keyId } = await makeBenchTenant(stand, 'backend');
  await adjustCredit(stand.db, tenant, { amount: 20_000_000n, reason: 'bench', id: undefined });
  for (let room = 0; room < ROOMS; room += 1) await openFirstRoom(stand.db, tenant, `room-${room}`);
  return { key, keyId, tenantId: renderTenantId(tenant) };
}

function bareMint(answer: Buffer): BareMethod {
  const { token } = fromBinary(MintClientTokenResponseSchema, answer);
  return {
    name: 'mint',
    text: 'select tenant_id from api_keys where id = $1',
    signedBytes: token.lastIndexOf('.'),
    answerBytes: answer.length,
  };
}

function requestBytes(tenant: string, at: number): Buffer {
  const request = create(MintClientTokenRequestSchema, {
    tenant,
    room: `room-${at % ROOMS}`,
    username: `user-${at}`,
    deviceThumbprint: DEVICE,
  });
  return Buffer.from(toBinary(MintClientTokenRequestSchema, request));
}

/** Each has its own connection: by default grpc-js would share one between clients of the same address. */
export function openClients(bench: Bench, url: string, count: number): Promise<Client[]> {
  const { host } = new URL(url);
  const open = () => new Client(host, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 });
  const clients = Array.from({ length: count }, open);
  return bench.use(Promise.resolve(clients), async () => {
    for (const client of clients) client.close();
  });
}

const asIs = (bytes: Buffer) => bytes;

export function call(client: Client, path: string, request: Buffer, metadata: Metadata): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, asIs, asIs, request, metadata, (error, answer) =>
      error ? reject(error) : resolve(answer!),
    );
  });
}

/** Each contestant continues after the last user of its previous round. */
function calls(
  name: string,
  role: Contestant['role'],
  clients: readonly Client[],
  inFlight: number,
  one: (client: Client, at: number) => Promise<Buffer>,
): Contestant {
  let sent = 0;
  return {
    name,
    role,
    round: async () => {
      const latencies: number[] = [];
      const begun = performance.now();
      const until = begun + SECONDS_PER_ROUND * 1000;
      const worker = async (_: unknown, at: number) => {
        for (let now = performance.now(); now < until; ) {
          await one(clients[at % clients.length]!, sent++);
          const ended = performance.now();
          latencies.push(ended - now);
          now = ended;
        }
      };
      await Promise.all(Array.from({ length: inFlight }, worker));
      return { value: latencies.length / ((performance.now() - begun) / 1000), latencies };
    },
  };
}
