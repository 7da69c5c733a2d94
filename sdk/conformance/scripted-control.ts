/** A control plane that answers as a script says. */
import { ErrorInfoSchema, RetryInfoSchema, StatusSchema } from '@boxoffice/contract/google/rpc/error_details';
import { RoomService } from '@boxoffice/contract/room_service';
import { TokenService } from '@boxoffice/contract/token_service';
import {
  create,
  type DescMessage,
  type DescService,
  type MessageInitShape,
  toBinary,
} from '@bufbuild/protobuf';
import { anyPack, durationFromMs } from '@bufbuild/protobuf/wkt';
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  status,
} from '@grpc/grpc-js';
import { definitionOf } from '../../src/doors/grpc/methods.ts';

/** A request, and the `authorization` that came with it. */
export interface Received {
  // biome-ignore lint/suspicious/noExplicitAny: requests of every method
  readonly request: any;
  readonly authorization: string | undefined;
}

export type ScriptedStream = ServerWritableStream<unknown, object>;

export type Handler = (
  received: Received,
  call: ServerUnaryCall<unknown, object>,
) => Promise<object> | object;

export interface ScriptedControl {
  readonly url: string;
  readonly received: Received[];
  close(): Promise<void>;
}

/** A failure with `code`, and the details of `reason`. */
export class Refusal {
  readonly code: status;
  readonly details: string;
  readonly metadata = new Metadata();

  constructor(
    code: keyof typeof status,
    options: { reason?: string; retryDelayMs?: number; details?: string; hasTrailer?: boolean } = {},
  ) {
    this.code = status[code] as status;
    this.details = options.details ?? `refused: ${options.reason}`;
    if (options.reason === undefined) return;
    const pack = <D extends DescMessage>(desc: D, init: MessageInitShape<D>) =>
      anyPack(desc, create(desc, init));
    const info = {
      reason: options.reason,
      domain: 'boxoffice',
      metadata: { request_id: 'req_1', excess: 'room.end' },
    };
    const details = [pack(ErrorInfoSchema, info)];
    if (options.retryDelayMs !== undefined) {
      details.push(pack(RetryInfoSchema, { retryDelay: durationFromMs(options.retryDelayMs) }));
    }
    const whole = create(StatusSchema, { code: this.code, message: this.details, details });
    this.metadata.set('grpc-status-details-bin', Buffer.from(toBinary(StatusSchema, whole)));
    if (options.hasTrailer !== false) this.metadata.set('x-request-id', 'req_1');
  }
}

/** Answers room and token methods with `handle`, streams with `follow`. What they throw is sent. */
export async function startScriptedControl(
  handle: Handler,
  follow: (received: Received, stream: ScriptedStream) => void = () => {},
): Promise<ScriptedControl> {
  const server = new Server();
  const received: Received[] = [];
  const note = (call: { request: unknown; metadata: Metadata }) => {
    const each = { request: call.request, authorization: call.metadata.get('authorization')[0]?.toString() };
    received.push(each);
    return each;
  };
  for (const service of [RoomService, TokenService] as DescService[]) {
    const definition = Object.entries(definitionOf(service)).map(([name, each]) => {
      const { output } = service.method[name]!;
      const responseSerialize = (answer: object) =>
        Buffer.from(toBinary(output, create(output, answer as never)));
      return [name, { ...each, responseSerialize }];
    });
    const handlers = service.methods.map((method) => {
      const unary = async (
        call: ServerUnaryCall<unknown, object>,
        callback: (error: object | null, answer?: object) => void,
      ) => {
        try {
          callback(null, await handle(note(call), call));
        } catch (error) {
          callback(error as object);
        }
      };
      const stream = (call: ScriptedStream) => follow(note(call), call);
      return [method.localName, method.methodKind === 'server_streaming' ? stream : unary];
    });
    server.addService(Object.fromEntries(definition), Object.fromEntries(handlers));
  }
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  const close = async () => server.forceShutdown();
  return { url: `http://127.0.0.1:${port}`, received, close };
}
