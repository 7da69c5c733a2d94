/** The control plane over gRPC: one connection, retried calls, resumed streams. */
import { randomUUID } from 'node:crypto';
import {
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { Client, type ClientReadableStream, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import {
  attemptInTime,
  type CallOptions,
  type Limits,
  type MutationOptions,
  sleep,
  untilClosed,
  waitAfter,
} from './calls.ts';
import type { Event } from './control-types.ts';
import { ANSWER_BYTES_MAX } from './error-kinds.ts';
import { BoxofficeError, errorOfCall, timeoutError } from './errors.ts';
import { Listing } from './listing.ts';
import { fromPlain, type Plain, toPlain } from './plain.ts';

/** Bookmarks come at least every 15 seconds: a stream that is silent for this long is dead. */
const SILENT_MS_MAX = 40_000;

export interface ControlOptions {
  /** `http://` or `https://`, a host, and a port. */
  readonly url: string;
  readonly apiKey: string;
  readonly ca: string | Buffer | undefined;
  readonly limits: Limits;
  /** The tenant of the key. */
  tenant(): Promise<string>;
}

/** Options of streams. */
export interface WatchOptions {
  /** Ends the stream: the iteration rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The stream is reopened after this silence; bookmarks come at least every 15 s. Default 40 s. */
  readonly silentMsMax?: number | undefined;
}

/** An event, and the token to resume after it. */
export interface WatchedEvent extends Event {
  /** Store it to resume after this event. Empty inside a snapshot, which cannot be resumed half-way. */
  readonly resumeToken: string;
}

type Answer<M extends DescMethod> = Plain<MessageShape<M['output']>>;
type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never;

export class Control {
  readonly #options: ControlOptions;
  readonly #client: Client;

  constructor(options: ControlOptions) {
    this.#options = options;
    const { hostname, port, protocol } = new URL(options.url);
    const isSecure = protocol === 'https:';
    const ca = options.ca === undefined ? null : Buffer.from(options.ca);
    this.#client = new Client(
      `${hostname}:${port || (isSecure ? 443 : 80)}`,
      isSecure ? credentials.createSsl(ca) : credentials.createInsecure(),
      {
        // Calls are retried here, where it is known which ones may be. The connection should follow quickly.
        'grpc.enable_retries': 0,
        'grpc.initial_reconnect_backoff_ms': 100,
        'grpc.max_reconnect_backoff_ms': 5_000,
        'grpc.keepalive_time_ms': 60_000,
        'grpc.max_receive_message_length': ANSWER_BYTES_MAX,
      },
    );
  }

  close(): void {
    this.#client.close();
  }

  /** A call that may be repeated. */
  async query<M extends DescMethodUnary>(
    method: M,
    request: object,
    options: CallOptions = {},
  ): Promise<Answer<M>> {
    const bytes = await this.#unary(method, request, options);
    return toPlain(method.output, fromBinary(method.output, bytes)) as Answer<M>;
  }

  /** A call that may be repeated because all attempts have the same idempotency key. */
  mutate<M extends DescMethodUnary>(
    method: M,
    request: object,
    options: MutationOptions = {},
  ): Promise<Answer<M>> {
    const { idempotencyKey = randomUUID() } = options;
    // An empty one would be sent as none, and the call would take effect with each of its attempts.
    if (!/^[\x20-\x7e]{1,128}$/.test(idempotencyKey))
      throw new TypeError('idempotencyKey must be 1 to 128 printable ASCII characters');
    return this.query(method, { ...request, idempotencyKey }, options);
  }

  /** All items of a listing method, page by page. `items` is the field that contains them. */
  list<M extends DescMethodUnary, Field extends keyof Answer<M>>(
    method: M,
    items: Field,
    request: { readonly pageToken?: string | undefined },
    options?: CallOptions,
  ): Listing<ItemOf<Answer<M>[Field]>> {
    return new Listing(request.pageToken, async (pageToken) => {
      const page = await this.query(method, { ...request, pageToken }, options);
      const { nextPageToken } = page as unknown as { nextPageToken: string };
      return { items: page[items] as ItemOf<Answer<M>[Field]>[], nextPageToken };
    });
  }

  /**
   * Follow events without end. A broken stream is reopened after the last event that was handed out, so
   * each event comes once and in order.
   */
  async *watch(
    method: DescMethodServerStreaming,
    request: { readonly resumeToken?: string | undefined },
    { signal: given, silentMsMax = SILENT_MS_MAX }: WatchOptions = {},
  ): AsyncGenerator<WatchedEvent, never, undefined> {
    const signal = untilClosed(given, this.#options.limits);
    let { resumeToken } = request;
    let failures = 0;
    for (;;) {
      let failure: unknown;
      try {
        for await (const bytes of this.#stream(method, { ...request, resumeToken }, signal, silentMsMax)) {
          failures = 0;
          const { event, resumeToken: next } = toPlain(
            method.output,
            fromBinary(method.output, bytes),
          ) as unknown as {
            event: Event;
            resumeToken: string;
          };
          yield { ...event, resumeToken: next };
          resumeToken = next || resumeToken;
        }
      } catch (error) {
        signal?.throwIfAborted();
        if (!isTransient(error)) throw error;
        failure = error;
      }
      await sleep(waitAfter(failures, failure), signal);
      failures += 1;
    }
  }

  async #unary(method: DescMethodUnary, request: object, options: CallOptions): Promise<Buffer> {
    const { limits } = this.#options;
    // Encoded once: all attempts send the same bytes.
    let message: Buffer | undefined;
    const attempt = async (signal: AbortSignal) => {
      message ??= await this.#render(method, request, signal);
      // The connection is gone, also for another attempt.
      limits.closed?.throwIfAborted();
      return await this.#send(method, message, signal);
    };
    return await attemptInTime(attempt, { ...options, limits, mayRetry: isTransient });
  }

  async #render(method: DescMethod, request: object, signal?: AbortSignal): Promise<Buffer> {
    // Mistakes in the request are reported before the service is called.
    const message = fromPlain(method.input, request) as MessageShape<typeof method.input> & {
      tenant: string;
    };
    message.tenant = await orAborted(this.#options.tenant(), signal);
    return Buffer.from(toBinary(method.input, message));
  }

  #send(method: DescMethod, message: Buffer, signal: AbortSignal): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        call.cancel();
        reject(signal.reason);
      };
      const call = this.#client.makeUnaryRequest(...this.#prepare(method, message), (error, answer) => {
        signal.removeEventListener('abort', abort);
        if (error) reject(errorOfCall(error));
        else resolve(answer!);
      });
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort);
    });
  }

  async *#stream(
    method: DescMethod,
    request: object,
    signal: AbortSignal | undefined,
    silentMsMax: number,
  ): AsyncGenerator<Buffer, void, undefined> {
    signal?.throwIfAborted();
    const message = await this.#render(method, request, signal);
    const stream: ClientReadableStream<Buffer> = this.#client.makeServerStreamRequest(
      ...this.#prepare(method, message),
    );
    // The error is reported to the reader. After that, ignore it.
    stream.on('error', () => {});
    const abort = () => stream.destroy(signal?.reason);
    signal?.addEventListener('abort', abort);
    const startTimer = () => setTimeout(() => stream.destroy(timeoutError()), silentMsMax);
    let silence = startTimer();
    try {
      for await (const bytes of stream) {
        // While the reader is busy, nothing is read from the stream, so silence means nothing.
        clearTimeout(silence);
        yield bytes;
        silence = startTimer();
      }
    } catch (error) {
      throw isServiceError(error) ? errorOfCall(error) : error;
    } finally {
      clearTimeout(silence);
      signal?.removeEventListener('abort', abort);
      stream.cancel();
    }
  }

  /** The arguments of a call. Bytes are passed through. */
  #prepare(method: DescMethod, message: Buffer) {
    const path = `/${method.parent.typeName}/${method.name}`;
    const asIs = (bytes: Buffer) => bytes;
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${this.#options.apiKey}`);
    return [path, asIs, asIs, message, metadata] as const;
  }
}

/** Source: specification 7.3. */
function isTransient(error: unknown): boolean {
  return error instanceof BoxofficeError && (error.kind === 'Unavailable' || error.kind === 'Timeout');
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'metadata' in error && 'details' in error;
}

/** The tenant is looked up once for all callers. Each caller may stop waiting. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return await work;
  signal.throwIfAborted();
  return await new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
