/** Server-sent events to one participant. */
import type { ServerResponse } from 'node:http';

const BEAT_MS = 15_000;
/** A client that reads nothing is cut off, before its answers fill the memory. */
const UNREAD_BYTES_MAX = 64 * 1024;

export class EventStream {
  readonly #response: ServerResponse;
  readonly #beat: NodeJS.Timeout;

  constructor(response: ServerResponse, headers: Readonly<Record<string, string>>) {
    this.#response = response;
    response.writeHead(200, { ...headers, 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    this.#beat = setInterval(() => this.#write(': \n\n'), BEAT_MS).unref();
    response.once('close', () => clearInterval(this.#beat));
  }

  send(event: string, data: object): void {
    this.#write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  close(): void {
    clearInterval(this.#beat);
    this.#response.end();
  }

  #write(text: string): void {
    if (this.#response.writableLength > UNREAD_BYTES_MAX) this.#response.destroy();
    else if (!this.#response.writableEnded) this.#response.write(text);
  }
}
