/** A client of the control plane for tests: plain grpc-js, with decoded error details. */

import { BudgetService } from '@boxoffice/contract/budget_service';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
  StatusSchema,
} from '@boxoffice/contract/google/rpc/error_details';
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { ParticipantService } from '@boxoffice/contract/participant_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { TokenService } from '@boxoffice/contract/token_service';
import { WatchdogService } from '@boxoffice/contract/watchdog_service';
import type { DescMethod, DescService, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { create, fromBinary } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import {
  type CallOptions,
  Client,
  type ClientReadableStream,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { afterAll } from 'vitest';
import { definitionOf } from '../../src/doors/grpc/methods.ts';
import type { TestService, TestTenant } from './service.ts';

export const SERVICES = [
  RoomService,
  ParticipantService,
  ModerationService,
  TokenService,
  WatchdogService,
  BudgetService,
] as const;

/** A failed call, as received on the wire. */
export class CallError extends Error {
  readonly code: string;
  readonly reason: string | undefined;
  readonly metadata: Record<string, string>;
  readonly fields: readonly string[];
  readonly retryDelaySeconds: number | undefined;
  readonly preconditions: readonly string[];
  readonly requestId: string | undefined;

  constructor(error: ServiceError) {
    super(error.details);
    this.code = status[error.code]!;
    const [bytes] = error.metadata.get('grpc-status-details-bin');
    const details = bytes ? fromBinary(StatusSchema, bytes as Buffer).details : [];
    const find = <S extends Parameters<typeof anyUnpack>[1]>(schema: S) =>
      details.map((any) => anyUnpack(any, schema as never)).find(Boolean) as
        | MessageShape<S & typeof ErrorInfoSchema>
        | undefined;
    const info = find(ErrorInfoSchema);
    this.reason = info?.reason;
    this.metadata = info?.metadata ?? {};
    this.fields =
      (find(BadRequestSchema) as MessageShape<typeof BadRequestSchema> | undefined)?.fieldViolations.map(
        (each) => each.field,
      ) ?? [];
    const retry = find(RetryInfoSchema) as MessageShape<typeof RetryInfoSchema> | undefined;
    this.retryDelaySeconds = retry && Number(retry.retryDelay?.seconds);
    this.preconditions =
      (
        find(PreconditionFailureSchema) as MessageShape<typeof PreconditionFailureSchema> | undefined
      )?.violations.map((each) => each.type) ?? [];
    this.requestId = error.metadata.get('x-request-id')[0]?.toString();
  }
}

export interface CallSettings {
  /** `null`: no `authorization` at all. */
  readonly key?: string | null;
  readonly metadata?: Metadata;
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

type Init<M extends DescMethod> = Omit<MessageInitShape<M['input']>, 'tenant' | '$typeName'>;

export interface TestControl {
  /** One unary call; throws `CallError`. `tenant` is filled in unless the request names one. */
  call<M extends DescMethod>(
    method: M,
    request: Init<M> & { tenant?: string },
    settings?: CallSettings,
  ): Promise<MessageShape<M['output']>>;
  /** One streaming call; end it with `cancel()`. */
  follow<M extends DescMethod>(
    method: M,
    request: Init<M> & { tenant?: string },
    settings?: CallSettings,
  ): ClientReadableStream<MessageShape<M['output']>>;
}

const open = new Set<Client>();

/** A connection to the control plane on `port`, with the key of `tenant`. Closed when the file ends. */
export function control(at: { port: number }, tenant: Pick<TestTenant, 'id' | 'key'>): TestControl {
  const client = new Client(`127.0.0.1:${at.port}`, credentials.createInsecure());
  open.add(client);

  const prepare = (method: DescMethod, request: object, settings: CallSettings) => {
    const definition = definitionOf(method.parent)[method.localName]!;
    const metadata = settings.metadata?.clone() ?? new Metadata();
    const key = settings.key === undefined ? tenant.key : settings.key;
    if (key !== null) metadata.set('authorization', `Bearer ${key}`);
    const options: CallOptions = settings.deadlineMs ? { deadline: Date.now() + settings.deadlineMs } : {};
    const message = create(method.input, { tenant: tenant.id, ...request } as never);
    return [
      definition.path,
      definition.requestSerialize,
      definition.responseDeserialize,
      message,
      metadata,
      options,
    ] as const;
  };

  return {
    call: (method, request, settings = {}) =>
      new Promise((resolve, reject) => {
        const sent = client.makeUnaryRequest(...prepare(method, request, settings), (error, answer) => {
          if (error) reject(new CallError(error));
          else resolve(answer as never);
        });
        settings.signal?.addEventListener('abort', () => sent.cancel());
      }),
    follow: (method, request, settings = {}) => {
      const stream = client.makeServerStreamRequest(...prepare(method, request, settings));
      settings.signal?.addEventListener('abort', () => stream.cancel());
      return stream as never;
    },
  };
}

/** `control()` of a test service. Call it at the top of a file, so that connections are closed. */
export function useControl(app: TestService): (tenant: Pick<TestTenant, 'id' | 'key'>) => TestControl {
  afterAll(() => {
    for (const client of open) client.close();
    open.clear();
  });
  return (tenant) => control({ port: app.service.grpcPort }, tenant);
}

/** The error of a call. Throws if it succeeded. */
export async function failureOf(call: Promise<unknown>): Promise<CallError> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof CallError) return outcome;
  throw new Error('the call did not fail', { cause: outcome });
}

export type { DescService };
