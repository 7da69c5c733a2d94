/** Closing a server without waiting for clients that keep their connections alive. */
import type { FastifyInstance } from 'fastify';

const IDLE_CHECK_MS = 50;

/**
 * Once `app` begins to close, answers tell their clients to let go of the connection, and one whose
 * answer was already on its way is closed as soon as it is idle. Node by itself closes only what is
 * idle when closing begins, and would keep the rest alive for a next request.
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
