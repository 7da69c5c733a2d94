import type { Server } from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import { HealthImplementation } from 'grpc-health-check';
import { describe, expect, test, vi } from 'vitest';
import { serveHealth } from '../../../src/doors/grpc/health.ts';
import { addServicesLazily, type ServiceAdder } from '../../../src/doors/grpc/lazy-services.ts';
import { serveReflection } from '../../../src/doors/grpc/reflection.ts';

/** The path of each method that is added, with what streams. */
function shapesOf(add: (server: Server) => void): Record<string, { in: boolean; out: boolean }> {
  const shapes: ReturnType<typeof shapesOf> = {};
  const addService: ServiceAdder['addService'] = (service) => {
    for (const { path, requestStream, responseStream } of Object.values(service))
      shapes[path] = { in: requestStream, out: responseStream };
  };
  add({ addService } as Server);
  return shapes;
}

describe('methods are declared as the library has them', () => {
  test('health', () => {
    const ours = shapesOf((server) => serveHealth(server, [], async () => undefined).stop());
    expect(ours).toStrictEqual(shapesOf((server) => new HealthImplementation().addToServer(server)));
  });

  test('reflection', () => {
    const described = {} as ConstructorParameters<typeof ReflectionService>[0];
    const ours = shapesOf((server) => serveReflection(server, []));
    expect(ours).toStrictEqual(shapesOf((server) => new ReflectionService(described).addToServer(server)));
  });
});

test('the first call loads the services, once', () => {
  const handle = vi.fn();
  const load = vi.fn((into: ServiceAdder) => {
    const method = {
      path: '/a.B/Do',
      requestStream: false,
      responseStream: false,
      originalName: 'do',
      requestSerialize: () => Buffer.alloc(0),
      requestDeserialize: (bytes: Buffer) => bytes.toString(),
      responseSerialize: (text: string) => Buffer.from(text),
      responseDeserialize: (bytes: Buffer) => bytes.toString(),
    };
    into.addService({ Do: method }, { do: handle });
  });
  const addService = vi.fn<ServiceAdder['addService']>();
  const path = '/a.B/Do';
  addServicesLazily({ addService }, [{ path, requestStream: false, responseStream: false }], load);
  expect(load).not.toHaveBeenCalled();

  const [service, implementation] = addService.mock.calls[0]!;
  expect(service[path]!.requestDeserialize(Buffer.from('ask'))).toBe('ask');
  (implementation[path] as (call: unknown) => void)('call');
  expect(service[path]!.responseSerialize('answer')).toStrictEqual(Buffer.from('answer'));
  expect(handle).toHaveBeenCalledExactlyOnceWith('call');
  expect(load).toHaveBeenCalledOnce();
});
