/**
 * Time limits of a request: of its head, of its body, of the answer, and of reading the answer.
 *
 * A sender is judged only by what it did: after bytes that arrived while this process was slow or stopped
 * have been read. Otherwise a complete request would be refused as incomplete, and its sender would not
 * repeat it. Source: specification 8.
 */
import type { Socket } from 'node:net';
import { errorCodes, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Failure } from '../../base/failure.ts';
import { hasBody } from './late-body.ts';
import { UnreadAnswers } from './unread-answers.ts';

export interface TimeLimits {
  /** For the head, for BODY_BYTES_MIN more of the body, and for the answer. */
  readonly stepMs: number;
  /** How long the client may leave an answer unread. */
  readonly unreadMs: number;
}

export const TIME_LIMITS: TimeLimits = { stepMs: 15_000, unreadMs: 30_000 };

/** What must arrive of a body within `stepMs`, unless it is complete: about 1 KiB a second. */
const BODY_BYTES_MIN = 15 * 1024;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How long the route may take to answer, if not the usual time. */
    answerSeconds?: number;
  }
  interface FastifyRequest {
    /** For the answer, from the head on and again from the body on; in between, for progress of the body. */
    timeLimit: NodeJS.Timeout | undefined;
    /** While the body arrives: so many of its bytes have, without those that frame chunks. */
    bodyBytes: number;
    /** While the body arrives: how many there were when the time limit began. */
    receivedBefore: number | undefined;
  }
}

type App = Pick<FastifyInstance, 'addHook' | 'decorateRequest' | 'server'>;

/** Implemented here because Fastify's `handlerTimeout` ends once the body has been read. */
export function limitTime(app: App, { stepMs, unreadMs }: TimeLimits): void {
  app.decorateRequest('timeLimit', undefined);
  app.decorateRequest('bodyBytes', 0);
  app.decorateRequest('receivedBefore', undefined);

  const unread = new UnreadAnswers(unreadMs);
  app.addHook('onClose', async () => unread.close());

  app.addHook('onRequest', (request, reply, done) => {
    request.timeLimit = setTimeout(onTimeout, stepMs, request, reply);
    reply.raw.once('close', () => {
      clearTimeout(request.timeLimit);
      unread.forget(reply.raw);
    });
    done();
  });
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (hasBody(request)) {
      request.receivedBefore = 0;
      // Those who read the body listen before the next tick, in which it begins to flow.
      payload.on('data', (chunk: Buffer) => {
        request.bodyBytes += chunk.length;
      });
      request.timeLimit?.refresh();
    }
    done(null, payload);
  });
  app.addHook('preValidation', (request, reply, done) => {
    const { answerSeconds } = request.routeOptions.config;
    if (answerSeconds === undefined) limitAnswer(request);
    else {
      request.receivedBefore = undefined;
      clearTimeout(request.timeLimit);
      request.timeLimit = setTimeout(onTimeout, answerSeconds * 1000, request, reply);
    }
    done();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    // A client that has left closed it before, and nothing would forget it again.
    if (!reply.raw.closed) unread.watch(reply.raw);
    done(null, payload);
  });
  app.addHook('onResponse', (request, _reply, done) => {
    // A call from within the process has no connection, and is neither.
    if (hasBody(request) && request.raw.complete === false) endUnlessComplete(request, stepMs);
    done();
  });
}

/** The body has arrived: from now on, the time limit is that of the answer. */
export function limitAnswer(request: FastifyRequest): void {
  request.receivedBefore = undefined;
  request.timeLimit?.refresh();
}

function onTimeout(request: FastifyRequest, reply: FastifyReply): void {
  // A stream that has begun is not `sent` before it ends.
  if (reply.sent || reply.raw.headersSent) return;
  if (request.receivedBefore === undefined) {
    const tookMs = Math.round(reply.elapsedTime);
    reply.send(new errorCodes.FST_ERR_HANDLER_TIMEOUT(tookMs, request.routeOptions.url));
    return;
  }
  afterReading(() => {
    const { receivedBefore } = request;
    // The rest of the body has just been read.
    if (receivedBefore === undefined || reply.sent) return;
    const received = request.bodyBytes;
    if (received - receivedBefore < BODY_BYTES_MIN) {
      reply.header('connection', 'close').send(new Failure('request_timeout'));
      return;
    }
    request.receivedBefore = received;
    request.timeLimit?.refresh();
  });
}

/** A request that was answered early may still send its body, so that its client reads the answer. */
function endUnlessComplete({ raw }: FastifyRequest, ms: number): void {
  const timer = setTimeout(() => raw.socket.destroy(), ms);
  const stop = () => clearTimeout(timer);
  raw.once('end', stop).once('close', stop);
}

/** Run `judge` after the event loop has read what had arrived before. */
function afterReading(judge: () => void): void {
  setImmediate(judge);
}

/** Connections whose request has begun since Node took its head for late. */
export class LateHeads {
  readonly #begun = new WeakSet<Socket>();

  watch(app: App): void {
    app.server.on('request', ({ socket }) => void this.#begun.add(socket));
  }

  /** Calls `refuse` unless the rest of the head had arrived and was only not read yet. */
  judge(socket: Socket, refuse: () => void): void {
    this.#begun.delete(socket);
    afterReading(() => {
      if (!this.#begun.has(socket)) refuse();
    });
  }
}
