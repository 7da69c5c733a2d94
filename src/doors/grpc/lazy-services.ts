/**
 * gRPC services of libraries that are loaded by the first call. Tools and probes use them; loading both took
 * a tenth of the CPU time of every start.
 */
import type {
  MethodDefinition,
  Server,
  ServiceDefinition,
  UntypedHandleCall,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';

/** What the server has to know of a method before its library is loaded. */
export interface LazyMethod {
  readonly path: `/${string}/${string}`;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
}

/** The part of a server that libraries add their services to. */
export type ServiceAdder = Pick<Server, 'addService'>;

interface LoadedMethod {
  readonly definition: MethodDefinition<unknown, unknown>;
  readonly handle: UntypedHandleCall;
}

/** `load` adds services with all these methods. It must not wait: the call that needs it is being read. */
export function addServicesLazily(
  server: ServiceAdder,
  methods: readonly LazyMethod[],
  load: (into: ServiceAdder) => void,
): void {
  let loaded: ReadonlyMap<string, LoadedMethod> | undefined;
  const find = (path: string): LoadedMethod => {
    loaded ??= collectMethods(load);
    return loaded.get(path)!;
  };
  const define = ({
    path,
    requestStream,
    responseStream,
  }: LazyMethod): MethodDefinition<unknown, unknown> => ({
    path,
    requestStream,
    responseStream,
    requestSerialize: (value) => find(path).definition.requestSerialize(value),
    requestDeserialize: (bytes) => find(path).definition.requestDeserialize(bytes),
    responseSerialize: (value) => find(path).definition.responseSerialize(value),
    responseDeserialize: (bytes) => find(path).definition.responseDeserialize(bytes),
  });
  const handle =
    ({ path }: LazyMethod) =>
    (...call: unknown[]) =>
      (find(path).handle as (...call: unknown[]) => unknown)(...call);
  server.addService(
    Object.fromEntries(methods.map((method) => [method.path, define(method)])),
    Object.fromEntries(
      methods.map((method) => [method.path, handle(method)]),
    ) as UntypedServiceImplementation,
  );
}

function collectMethods(load: (into: ServiceAdder) => void): Map<string, LoadedMethod> {
  const found = new Map<string, LoadedMethod>();
  load({
    addService: (service: ServiceDefinition, implementation: UntypedServiceImplementation) => {
      for (const [name, definition] of Object.entries(service)) {
        // A library may implement `Check` as `check`.
        const handle = implementation[name] ?? implementation[definition.originalName ?? ''];
        if (handle) found.set(definition.path, { definition, handle });
      }
    },
  });
  return found;
}
