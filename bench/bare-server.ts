/** Plain grpc-js on a free port, whose methods take and answer bytes. */
import { type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js';
import { announce } from './process.ts';

const asIs = (bytes: Buffer) => bytes;

/** Serves the methods, by path, until the process is ended, and then calls `stop`. */
export function serveBare(
  methods: Readonly<Record<string, handleUnaryCall<Buffer, Buffer>>>,
  stop = async () => {},
): void {
  const server = new Server();
  for (const [path, handler] of Object.entries(methods)) {
    const call = {
      path,
      requestStream: false,
      responseStream: false,
      requestSerialize: asIs,
      requestDeserialize: asIs,
      responseSerialize: asIs,
      responseDeserialize: asIs,
    };
    server.addService({ call }, { call: handler });
  }
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
    if (error) throw error;
    announce(port, async () => {
      server.forceShutdown();
      await stop();
    });
  });
}
