/** Calls of the control plane by clients. */
import {
  create,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
  toJson,
} from '@bufbuild/protobuf';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { definitionOf } from '../../src/doors/grpc/methods.ts';
import type { Reply } from '../journal.ts';

const PATIENCE_MS = 20_000;

/** Codes that do not tell whether the call took effect. */
const UNKNOWN: ReadonlySet<number> = new Set([
  status.UNAVAILABLE,
  status.INTERNAL,
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
  status.ABORTED,
]);

export interface GrpcReply<M extends DescMethodUnary> extends Reply {
  readonly message: MessageShape<M['output']> | undefined;
}

/** A connection to one service, which comes back soon after the service does. */
export class GrpcClient {
  readonly #client: Client;
  #isClosed = false;

  constructor(address: string) {
    this.#client = new Client(address, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1_000,
    });
  }

  call<M extends DescMethodUnary>(
    method: M,
    key: string,
    request: MessageInitShape<M['input']>,
  ): Promise<GrpcReply<M>> {
    const { path, requestSerialize, responseDeserialize } = definitionOf(method.parent)[method.localName]!;
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${key}`);
    const options = { deadline: Date.now() + PATIENCE_MS };
    const message = create(method.input, request);
    return new Promise((resolve) => {
      // Clients may still be about to call when a campaign is broken off.
      if (this.#isClosed) return resolve({ outcome: 'unknown', message: undefined });
      const end = (error: ServiceError | null, answer?: MessageShape<M['output']>) =>
        resolve(error ? { ...failure(error), message: undefined } : success(method, answer!));
      this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        message,
        metadata,
        options,
        end,
      );
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#client.close();
  }
}

function failure({ code, details }: ServiceError): Reply {
  return { outcome: UNKNOWN.has(code) ? 'unknown' : 'refused', status: code, answer: { error: details } };
}

/** Without the token. */
function success<M extends DescMethodUnary>(method: M, message: MessageShape<M['output']>): GrpcReply<M> {
  const { token: _, ...answer } = toJson(method.output, message) as Record<string, unknown>;
  return { outcome: 'ok', status: status.OK, answer, message };
}

/** What a token says, without a look at its signature. */
export function claimsOf(token: string): unknown {
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
}
