/** `grpc.health.v1.Health`: the result of `/readyz`, for the server as a whole and for each service. */
import { createRequire } from 'node:module';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import type { Server } from '@grpc/grpc-js';
import type { HealthImplementation } from 'grpc-health-check';
import { addServicesLazily, type LazyMethod } from './lazy-services.ts';

export const HEALTH_NAME = 'grpc.health.v1.Health';

const METHODS: readonly LazyMethod[] = (['Check', 'List', 'Watch'] as const).map((name) => ({
  path: `/${HEALTH_NAME}/${name}`,
  requestStream: false,
  responseStream: name === 'Watch',
}));

const CHECK_MS = 2_000;

const loadLibrary = () =>
  createRequire(import.meta.url)('grpc-health-check') as typeof import('grpc-health-check');

export interface Health {
  /** Report NOT_SERVING from now on. */
  stop(): void;
}

/** `findFault` returns why calls should not be sent, or `undefined`. It runs every two seconds. */
export function serveHealth(
  server: Server,
  services: readonly string[],
  findFault: () => Promise<string | undefined>,
): Health {
  // '' means the server as a whole.
  const names = ['', ...services];
  let health: HealthImplementation | undefined;
  let wasServing = true;
  const status = () => (wasServing ? 'SERVING' : 'NOT_SERVING');
  addServicesLazily(server, METHODS, (into) => {
    const library = loadLibrary();
    health = new library.HealthImplementation(Object.fromEntries(names.map((name) => [name, status()])));
    health.addToServer(into);
  });

  const tell = (isServing: boolean) => {
    if (isServing === wasServing) return;
    wasServing = isServing;
    for (const name of names) health?.setStatus(name, status());
  };

  let isStopped = false;
  let isAsking = false;
  const ask = async () => {
    isAsking = true;
    const fault = await findFault().catch(() => 'it cannot be told');
    isAsking = false;
    if (!isStopped) tell(fault === undefined);
  };
  const timer = setInterval(() => {
    // A database that does not answer for this long counts as unavailable. Only one check runs at a time.
    if (isAsking) tell(false);
    else void ask();
  }, CHECK_MS).unref();

  return {
    stop: () => {
      isStopped = true;
      clearInterval(timer);
      tell(false);
    },
  };
}

/**
 * The file that describes the service, in the binary form of descriptors.
 *
 * The loader names map entry types after the field alone. Readers reject that: the name must
 * end in `Entry`.
 */
export function describeHealth(): Buffer {
  const [loaded] = loadLibrary().service.Check!.requestType.fileDescriptorProtos;
  const file = fromBinary(FileDescriptorProtoSchema, loaded!);
  file.name = 'grpc/health/v1/health.proto';
  for (const message of file.messageType) {
    for (const entry of message.nestedType.filter(({ options }) => options?.mapEntry)) {
      const field = message.field.find(({ typeName }) => typeName === entry.name)!;
      entry.name = `${entry.name}Entry`;
      field.typeName = entry.name;
    }
  }
  return Buffer.from(toBinary(FileDescriptorProtoSchema, file));
}
