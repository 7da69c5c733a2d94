/** `grpc.health.v1.Health`: what `/readyz` says, of the server as a whole and of each service. */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import type { Server } from '@grpc/grpc-js';
import { HealthImplementation, service } from 'grpc-health-check';

export const HEALTH_NAME = 'grpc.health.v1.Health';

const CHECK_MS = 2_000;

export interface Health {
  /** From now on, nobody should come. */
  stop(): void;
}

/** `findFault` says why no calls should come, or `undefined`. It is asked every two seconds. */
export function serveHealth(
  server: Server,
  services: readonly string[],
  findFault: () => Promise<string | undefined>,
): Health {
  // '' stands for the server as a whole.
  const names = ['', ...services];
  const health = new HealthImplementation(Object.fromEntries(names.map((name) => [name, 'SERVING'])));
  health.addToServer(server);

  let wasServing = true;
  const tell = (isServing: boolean) => {
    if (isServing === wasServing) return;
    wasServing = isServing;
    for (const name of names) health.setStatus(name, isServing ? 'SERVING' : 'NOT_SERVING');
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
    // A database that is silent for so long counts as away. It is not asked twice at once.
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
 * The library that loads it names the entries of a map after the field alone. Readers refuse that: the name
 * ends in `Entry`.
 */
export function describeHealth(): Buffer {
  const [loaded] = service.Check!.requestType.fileDescriptorProtos;
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
