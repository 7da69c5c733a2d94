/**
 * The floor of the control plane's methods: plain grpc-js and one prepared statement a call. BENCH_METHODS
 * is a JSON list of `BareMethod`.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { Server, ServerCredentials, type ServerUnaryCall } from '@grpc/grpc-js';
import { openPool } from '../src/base/db/pool.ts';
import { announce } from './process.ts';

export interface BareMethod {
  readonly name: string;
  /** The request holds its values, separated by spaces. */
  readonly text: string;
  /** How many bytes each call signs with ES256; absent: it signs nothing. */
  readonly signedBytes?: number;
  readonly answerBytes: number;
}

const db = openPool(process.env.DATABASE_URL!);
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const asIs = (bytes: Buffer) => bytes;

type Answered = (error: Error | null, answer?: Buffer) => void;

function handlerOf({ name, text, signedBytes, answerBytes }: BareMethod) {
  const answer = Buffer.alloc(answerBytes, 'x');
  const claims = Buffer.alloc(signedBytes ?? 0, 'x');
  const serve = async (request: Buffer) => {
    const { rowCount } = await db.query({ name, text, values: request.toString().trim().split(' ') });
    if (!rowCount) throw new Error(`${name} found nothing`);
    if (signedBytes) sign('sha256', claims, { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return answer;
  };
  return ({ request }: ServerUnaryCall<Buffer, Buffer>, answered: Answered) => {
    serve(request).then((bytes) => answered(null, bytes), answered);
  };
}

const server = new Server();
for (const method of JSON.parse(process.env.BENCH_METHODS!) as BareMethod[]) {
  const call = {
    path: `/bench.Bare/${method.name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  };
  server.addService({ call }, { call: handlerOf(method) });
}
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  announce(port, async () => {
    server.forceShutdown();
    await db.end();
  });
});
