/** The floor of a unary method: plain grpc-js, answering with the requested number of bytes. */
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { announce } from './process.ts';

const answer = Buffer.alloc(Number(process.env.BENCH_ANSWER_BYTES), 'x');
const asIs = (bytes: Buffer) => bytes;

const server = new Server();
server.addService(
  {
    echo: {
      path: '/bench.Echo/Echo',
      requestStream: false,
      responseStream: false,
      requestSerialize: asIs,
      requestDeserialize: asIs,
      responseSerialize: asIs,
      responseDeserialize: asIs,
    },
  },
  { echo: (_call: unknown, callback: (error: null, answer: Buffer) => void) => callback(null, answer) },
);
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  announce(port, async () => server.forceShutdown());
});
