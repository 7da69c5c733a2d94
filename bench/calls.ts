/** A load of unary gRPC calls: grpc-js, in the process of the benchmark, which reads no message. */
import { Client, credentials, type Metadata } from '@grpc/grpc-js';
import type { Bench, Contestant, TimedRounds } from './benchmark.ts';
import { type Measured, measureCpu } from './cpu-meter.ts';

/** Connections that share the calls in flight: a back end has few. */
export const CONNECTIONS_MAX = 4;

/** Each has its own connection: by default grpc-js would share one between clients of the same address. */
export function openClients(bench: Bench, url: string, inFlight: number): Promise<Client[]> {
  const { host } = new URL(url);
  const open = () => new Client(host, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 });
  const clients = Array.from({ length: Math.min(CONNECTIONS_MAX, inFlight) }, open);
  return bench.use(Promise.resolve(clients), async () => {
    for (const client of clients) client.close();
  });
}

const asIs = (bytes: Buffer) => bytes;

export function call(client: Client, path: string, request: Buffer, metadata: Metadata): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, asIs, asIs, request, metadata, (error, answer) =>
      error ? reject(error) : resolve(answer!),
    );
  });
}

export interface Calls {
  readonly clients: readonly Client[];
  readonly inFlight: number;
  /** Makes call `index`. */
  readonly one: (client: Client, index: number) => Promise<unknown>;
}

/** Who answers the calls. */
export interface CallSide extends Measured {
  readonly name: string;
  readonly role: Contestant['role'];
}

/** Each call is sent as soon as one of those in flight has its answer. The result is answers per second. */
export function calling(side: CallSide, calls: Calls, { warmUp, seconds }: TimedRounds): Contestant {
  const sender = new CallSender(calls);
  return {
    name: side.name,
    role: side.role,
    warmUp: () => sender.send({ calls: warmUp }),
    round: async () => {
      const { rate, latencies, cpu } = await measureCpu(side, () => sender.send({ seconds }));
      return { value: rate, latencies, cpu };
    },
  };
}

class CallSender {
  readonly #calls: Calls;
  #sent = 0;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Ends after this many calls, or after this many seconds. Indexes continue where the last ones ended. */
  async send(until: { readonly calls: number } | { readonly seconds: number }) {
    const { clients, inFlight, one } = this.#calls;
    const latencies: number[] = [];
    const begun = performance.now();
    const deadline = 'seconds' in until ? begun + until.seconds * 1000 : Number.POSITIVE_INFINITY;
    const end = 'calls' in until ? this.#sent + until.calls : Number.POSITIVE_INFINITY;
    const worker = async (_: unknown, at: number) => {
      for (let now = performance.now(); now < deadline && this.#sent < end; ) {
        await one(clients[at % clients.length]!, this.#sent++);
        const ended = performance.now();
        latencies.push(ended - now);
        now = ended;
      }
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
    const seconds = (performance.now() - begun) / 1000;
    return { requests: latencies.length, rate: latencies.length / seconds, latencies };
  }
}
