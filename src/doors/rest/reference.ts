/**
 * The description at `/openapi.json` and the interactive reference page at `/docs/rest`. The page loads nothing
 * from other hosts.
 *
 * The first request for either makes the files, which are held from then on: a service that never gets one saves
 * their memory, and the load time at every start.
 */
import type { FastifyReply } from 'fastify';
import { Failure } from '../../base/failure.ts';
import type { Http } from '../http/http.ts';
import { cacheOf, pathOf, sendStatic, type VersionedRequest } from '../http/static-files.ts';
import type { DescribedRoute } from './openapi.ts';

/** The page has inline styles; all scripts are ours. */
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Describes the routes that are registered with `app` after this call, and those of `others`. */
export function reference(app: Http, publicUrl: string, others: readonly DescribedRoute[]): void {
  const routes: DescribedRoute[] = [];
  let opening: ReturnType<typeof open> | undefined;
  const open = async () => {
    const { makeReference } = await import('./reference-files.ts');
    return makeReference([...routes, ...others], publicUrl);
  };

  const serve = async (request: VersionedRequest, reply: FastifyReply) => {
    opening ??= open();
    const { files, pages } = await opening;
    const path = pathOf(request);
    const [file, page] = [files.get(path), pages.get(path)];
    reply.header('content-security-policy', CSP);
    if (file) return sendStatic(reply, file, cacheOf(request, file));
    if (page) return sendStatic(reply, page, 'no-store');
    throw new Failure('not_found');
  };
  for (const url of ['/openapi.json', '/docs/rest', '/docs/rest/', '/docs/static/*'])
    app.get(url, { schema: { hide: true } }, serve);
  app.addHook('onRoute', (route) => void routes.push(route));
}
