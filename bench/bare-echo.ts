/** The floor of a unary method: plain grpc-js, answering with the requested number of bytes. */
import { serveBare } from './bare-server.ts';

const answer = Buffer.alloc(Number(process.env.BENCH_ANSWER_BYTES), 'x');

serveBare({ '/bench.Echo/Echo': (_call, callback) => callback(null, answer) });
