/** HSTS: browsers that saw the header ask for the host over TLS alone. Source: RFC 6797. */
import type { FastifyInstance } from 'fastify';

interface Door {
  /** The address of the door, as browsers have it. */
  readonly url: string;
  /** How long browsers keep it in mind; 0: the header is not sent. */
  readonly seconds: number;
}

/** Only where there is TLS. Names below the host are left out: they may belong to others. */
export function requireTls(app: Pick<FastifyInstance, 'addHook'>, { url, seconds }: Door): void {
  if (!url.startsWith('https:') || !(seconds > 0)) return;
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('strict-transport-security', `max-age=${seconds}`);
    done();
  });
}
