/**
 * The floor of the control plane's methods: plain grpc-js and one prepared statement a call. BENCH_METHODS
 * is a JSON list of `BareMethod`.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import type { ServerUnaryCall } from '@grpc/grpc-js';
import { openPool } from '../src/base/db/pool.ts';
import { serveBare } from './bare-server.ts';

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

const methods = JSON.parse(process.env.BENCH_METHODS!) as BareMethod[];
serveBare(
  Object.fromEntries(methods.map((method) => [`/bench.Bare/${method.name}`, handlerOf(method)])),
  () => db.end(),
);
