/** `grpc.reflection`: standard tools discover the services by it. */
import { createRequire } from 'node:module';
import { file_google_rpc_error_details } from '@boxoffice/contract/google/rpc/error_details';
import { type DescFile, type DescService, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import type { Server } from '@grpc/grpc-js';
import { describeHealth, HEALTH_NAME } from './health.ts';
import { addServicesLazily, type LazyMethod, type ServiceAdder } from './lazy-services.ts';

const METHODS: readonly LazyMethod[] = (['v1', 'v1alpha'] as const).map((version) => ({
  path: `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
  requestStream: true,
  responseStream: true,
}));

/** Describe these services, and that of health. */
export function serveReflection(server: Server, services: readonly DescService[]): void {
  addServicesLazily(server, METHODS, (into) => reflect(into, services));
}

/**
 * The reflection service reads descriptors in the form that the `.proto` loader produces. The
 * messages in error details are described too, so that tools can show them.
 */
function reflect(into: ServiceAdder, services: readonly DescService[]): void {
  const { ReflectionService } = createRequire(import.meta.url)(
    '@grpc/reflection',
  ) as typeof import('@grpc/reflection');
  const files = new Map<string, Buffer>();
  const collect = (file: DescFile) => {
    for (const needed of file.dependencies) collect(needed);
    files.set(file.name, Buffer.from(toBinary(FileDescriptorProtoSchema, file.proto)));
  };
  for (const { file } of services) collect(file);
  collect(file_google_rpc_error_details);
  const loaded = { all: { fileDescriptorProtos: [...files.values(), describeHealth()] } };
  const described = loaded as unknown as ConstructorParameters<typeof ReflectionService>[0];
  const names = [...services.map(({ typeName }) => typeName), HEALTH_NAME];
  new ReflectionService(described, { services: names }).addToServer(into);
}
