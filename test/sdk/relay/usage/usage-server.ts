/** A fake service: `POST /v1/usage` as a reporter sees it, with faults on demand. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface WireRecord {
  readonly id: string;
  readonly room?: string;
  readonly participant?: string;
  readonly role: string;
  readonly tier: string;
  readonly seconds: number;
  readonly egress_bytes: number;
  readonly ingress_bytes: number;
}

export interface Received {
  readonly body: string;
  readonly key: string;
  readonly records: readonly WireRecord[];
}

/** A fault in place of a regular answer. */
export type Fault =
  | { readonly kind: 'refuse_connection' }
  | { readonly kind: 'lose_answer' }
  | { readonly kind: 'cut_answer' }
  | { readonly kind: 'hang' }
  | { readonly kind: 'answer'; readonly status: number; readonly text?: string; readonly headers?: object };

/** Stores charged records by id. */
export class Ledger {
  readonly charged = new Map<string, WireRecord>();
  /** Ids that were reported again with other values. */
  readonly conflicts: string[] = [];
  admitted = true;
  exempt = false;
  /** The service refuses a batch that contains such a record. */
  isBad: (record: WireRecord) => boolean = () => false;

  /** Status and body of the answer. */
  charge(records: readonly WireRecord[]): { status: number; text: string } {
    const bad = records.findIndex((record) => this.isBad(record));
    if (bad >= 0) return { status: 400, text: `{"error":"invalid request: records/${bad}/role"}` };
    let charged = 0;
    for (const record of records) {
      const known = this.charged.get(record.id);
      if (!known) charged += 1;
      else if (JSON.stringify(known) !== JSON.stringify(record)) this.conflicts.push(record.id);
      if (!known) this.charged.set(record.id, record);
    }
    const counts = {
      charged: this.exempt ? 0 : charged,
      duplicates: records.length - charged,
      unbilled: this.exempt ? charged : 0,
    };
    const total = { micros: charged, display: '$0.000000' };
    return { status: 200, text: JSON.stringify({ ...counts, total, admitted: this.admitted }) };
  }

  /** Total seconds and bytes of all charged records. */
  get sums(): { seconds: number; egressBytes: number; ingressBytes: number } {
    const sums = { seconds: 0, egressBytes: 0, ingressBytes: 0 };
    for (const record of this.charged.values()) {
      sums.seconds += record.seconds;
      sums.egressBytes += record.egress_bytes;
      sums.ingressBytes += record.ingress_bytes;
    }
    return sums;
  }
}

/** A service without a network: pass its `fetch` to the reporter. */
export class FakeService extends Ledger {
  readonly received: Received[] = [];
  /** Each applies to one request, in order. */
  readonly faults: Fault[] = [];
  acceptKey: (key: string) => boolean = () => true;
  /** Requests in progress, and their maximum so far. */
  inFlight = 0;
  inFlightMax = 0;

  /** Requests that carried records. */
  get batches(): Received[] {
    return this.received.filter((each) => each.records.length > 0);
  }

  readonly fetch: typeof globalThis.fetch = async (_url, init) => {
    const body = String(init?.body);
    const key = new Headers(init?.headers).get('authorization')!.replace('Bearer ', '');
    const { records } = JSON.parse(body) as { records: WireRecord[] };
    this.received.push({ body, key, records });
    this.inFlight += 1;
    this.inFlightMax = Math.max(this.inFlightMax, this.inFlight);
    try {
      return await this.#answer(key, records, init?.signal ?? undefined);
    } finally {
      this.inFlight -= 1;
    }
  };

  async #answer(
    key: string,
    records: readonly WireRecord[],
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const fault = this.faults.shift();
    switch (fault?.kind) {
      case 'refuse_connection':
        throw new TypeError('fetch failed');
      case 'hang':
        return await new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
        });
      case 'answer':
        return new Response(fault.text ?? '', { status: fault.status, headers: { ...fault.headers } });
    }
    if (!this.acceptKey(key)) return new Response('{"error":"invalid api key"}', { status: 401 });
    const { status, text } = this.charge(records);
    if (fault?.kind === 'lose_answer') throw new TypeError('fetch failed');
    if (fault?.kind === 'cut_answer') return new Response(text.slice(0, text.length >> 1), { status });
    return new Response(text, { status });
  }
}

/** A service on a port, for reporters in other processes; `fault` is called for each request. */
export async function listen(
  ledger: Ledger,
  fault: (records: readonly WireRecord[]) => Fault['kind'] | undefined,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    // A reporter may be killed while it sends.
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const { records } = JSON.parse(body) as { records: WireRecord[] };
    const kind = fault(records);
    if (kind === 'refuse_connection') return void request.socket.destroy();
    if (kind === 'answer') return void response.writeHead(503).end();
    const answer = ledger.charge(records);
    if (kind === 'lose_answer') return void request.socket.destroy();
    if (kind === 'cut_answer') return void cut(response, answer.text);
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Half of the body, then the connection breaks. */
function cut(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-length': text.length });
  response.write(text.slice(0, text.length >> 1), () => response.destroy());
}
