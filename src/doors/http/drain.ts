/** Closes a server without waiting for keep-alive connections. */
import type { FastifyInstance } from 'fastify';

const IDLE_CHECK_MS = 50;

/**
 * Once `app` starts to close, answers carry `Connection: close`. A connection whose answer was already
 * being sent is closed as soon as it is idle. Node itself closes only connections that are idle when
 * closing starts, and would keep the others alive for a next request.
 */
export function drainOnClose(app: Pick<FastifyInstance, 'addHook' | 'server'>): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
    const timer = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS);
    app.server.once('close', () => clearInterval(timer));
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close');
    done(null, payload);
  });
}
