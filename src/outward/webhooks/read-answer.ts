/** Sends the body of one request and reads the answer, within limits. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { describeError, RequestError } from './request-error.ts';
import {
  ANSWER_BYTES_MAX,
  ANSWER_CHARACTERS_MAX,
  INTERIM_ANSWERS_MAX,
  type SendTimes,
} from './send-limits.ts';

export type Answer =
  /** A whole status line and headers arrived in time. `body` is text, cut to ANSWER_CHARACTERS_MAX. */
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly body: string;
      readonly retryAfterSeconds?: number;
    }
  /** `error` is in plain words, safe to show to the tenant. */
  | { readonly kind: 'failed'; readonly error: string };

interface Exchange {
  readonly host: string;
  readonly body: string;
  readonly times: SendTimes;
  readonly signal: AbortSignal | undefined;
}

const STOPPED = 'the service stopped before an answer: the receiver may have the request';

/** How far a connection got: decides whether the receiver may have the request. */
type Stage = 'waiting' | 'connecting' | 'connected';

/** Sends `body` as the body of `request`. Always settles within the times, and leaves no timer behind. */
export function readAnswer(request: ClientRequest, exchange: Exchange): Promise<Answer> {
  const { host, times, signal } = exchange;
  let stage: Stage = 'waiting';
  return new Promise<IncomingMessage>((resolve, reject) => {
    // A request that still waits for a connection would emit its error much later, so fail by hand.
    const fail = (why: string) => {
      reject(new RequestError(why));
      request.destroy();
    };
    const stop = () => fail(signal?.reason instanceof RequestError ? signal.reason.message : STOPPED);
    const timer = setTimeout(() => fail(late(stage, host, times)), times.answer);
    signal?.addEventListener('abort', stop, { once: true });
    request.once('close', () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    });

    let interim = 0;
    request.on('information', () => {
      interim += 1;
      if (interim > INTERIM_ANSWERS_MAX)
        fail(`more than ${INTERIM_ANSWERS_MAX} interim answers came before the one that counts`);
    });
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      fail('the receiver switched to another protocol');
    });
    request.on('socket', (socket) => {
      stage = request.reusedSocket ? 'connected' : 'connecting';
      if (stage === 'connected') return;
      const tooLong = setTimeout(() => fail(late(stage, host, times)), times.connect);
      socket.once('close', () => clearTimeout(tooLong));
      socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
        clearTimeout(tooLong);
        stage = 'connected';
      });
    });
    request.on('error', reject);
    request.on('response', (response) => {
      clearTimeout(timer);
      resolve(response);
    });
    request.end(exchange.body);
  }).then(
    (response) => answerOf(response, times),
    (error) => ({ kind: 'failed', error: describeError(error, host, stage === 'connected') }),
  );
}

function late(stage: Stage, host: string, times: SendTimes): string {
  const within = (milliseconds: number) => `within ${milliseconds / 1000} s`;
  if (stage === 'waiting') return `no connection to ${host} was free ${within(times.answer)}`;
  if (stage === 'connecting') return `no connection to ${host} ${within(times.connect)}`;
  return `no answer ${within(times.answer)}: the receiver may have the request`;
}

async function answerOf(response: IncomingMessage, times: SendTimes): Promise<Answer> {
  const retryAfterSeconds = parseRetryAfter(response.headers['retry-after'], Date.now());
  return {
    kind: 'answered',
    status: response.statusCode!,
    body: await readBody(response, times.body),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/**
 * What arrives of the body in time. If more is to come, the connection closes, which frees it from a receiver
 * that sends without end; otherwise it stays open for the next request.
 */
async function readBody(response: IncomingMessage, milliseconds: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => response.destroy(), milliseconds);
  try {
    for await (const chunk of response) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) break;
    }
  } catch {
    // The body broke off. The receiver has said its status, and that counts.
  } finally {
    clearTimeout(timer);
  }
  return textOf(Buffer.concat(chunks));
}

/** Text that every database and page can hold: without NUL and other control characters. */
function textOf(bytes: Buffer): string {
  const text = bytes.subarray(0, ANSWER_BYTES_MAX).toString('utf8').slice(0, ANSWER_CHARACTERS_MAX);
  return text.toWellFormed().replace(/[^\P{Cc}\t\n\r]/gu, '\ufffd');
}

/** Whole seconds from now, of a number of seconds or an HTTP date; `undefined` for other text. */
function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  const at = /^[A-Z][a-z]{2}, .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000));
}
