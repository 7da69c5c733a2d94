/**
 * Ends answers of which the client takes nothing for a while. It is judged by the bytes that it takes, so that a slow reader gets
 * all of a long answer, and by looks at them, so that time in which this process was stopped does not count.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const LOOKS = 6;

/** What waits to be taken, at the last look. */
interface Look {
  readonly sent: number;
  readonly queued: number;
  /** How many looks in a row found the same. */
  readonly count: number;
}

export class UnreadAnswers {
  readonly #looks = new Map<ServerResponse, Look>();
  readonly #timer: NodeJS.Timeout;

  /** `unreadMs`: how long a client may take nothing. */
  constructor(unreadMs: number) {
    this.#timer = setInterval(() => this.#look(), unreadMs / LOOKS).unref();
  }

  /** From its first byte on. */
  watch(answer: ServerResponse): void {
    this.#looks.set(answer, NONE);
  }

  forget(answer: ServerResponse): void {
    this.#looks.delete(answer);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    for (const [answer, before] of this.#looks) {
      const { socket } = answer;
      if (!socket) continue;
      const now = lookAt(socket);
      const isSame = now.sent === before.sent && now.queued === before.queued;
      const count = isSame && socket.writableLength > 0 ? before.count + 1 : 0;
      if (count < LOOKS) this.#looks.set(answer, { ...now, count });
      else socket.destroy();
    }
  }
}

const NONE: Look = { sent: -1, queued: 0, count: 0 };

/** While one large chunk is sent, only what is left of it shows progress. Node has no public way to that. */
function lookAt(socket: Socket): Omit<Look, 'count'> {
  const { _handle: handle } = socket as unknown as { readonly _handle: { writeQueueSize: number } | null };
  return { sent: socket.bytesWritten - socket.writableLength, queued: handle?.writeQueueSize ?? 0 };
}
