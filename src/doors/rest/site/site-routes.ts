/** `/docs`, its pages, and the lists of them for programs. The first request for one loads what makes them. */
import { contentSecurityPolicy } from '@boxoffice/pages/policy';
import type { FastifyReply } from 'fastify';
import { Failure } from '../../../base/failure.ts';
import { preferredType } from '../../http/accept.ts';
import type { Http } from '../../http/http.ts';
import { cacheOf, pathOf, REVALIDATED, sendStatic, type VersionedRequest } from '../../http/static-files.ts';
import type { Site, SiteOptions } from './site.ts';

/** Scripts and styles are files of the site. */
const PAGE_POLICY = contentSecurityPolicy({ style: "'self'", script: true });
/** A picture that is opened by itself has its own style. */
const PICTURE_POLICY = contentSecurityPolicy({ style: "'unsafe-inline'" });

/** Programs may ask for Markdown at the address that people have. */
const PAGE_TYPES = ['text/html', 'text/markdown'] as const;

const loadSite = (options: SiteOptions) => import('./site.ts').then(({ openSite }) => openSite(options));

export function siteRoutes(app: Http, options: SiteOptions, load = loadSite): void {
  let opening: Promise<Site> | undefined;
  const openAgain = () => {
    const site = load(options);
    // The next request tries again.
    site.catch(() => {
      opening = undefined;
    });
    return site;
  };

  const serve = async (request: VersionedRequest, reply: FastifyReply) => {
    opening ??= openAgain();
    const site = await opening;
    const path = pathOf(request);
    // Only pages have Markdown behind their address.
    const isForPrograms = preferredType(request.headers.accept, PAGE_TYPES) === 'text/markdown';
    const file = await ((isForPrograms && site.find(`${path}.md`)) || site.find(path));
    if (!file) throw new Failure('not_found');
    const isPage = /^text\/(html|markdown|plain)/.test(file.type);
    reply.header('content-security-policy', file.type.startsWith('image/svg') ? PICTURE_POLICY : PAGE_POLICY);
    return sendStatic(reply, file, isPage ? REVALIDATED : cacheOf(request, file), 'accept, accept-encoding');
  };
  for (const url of ['/docs', '/docs.md', '/docs/*', '/llms.txt', '/llms-full.txt']) {
    app.get(url, { schema: { hide: true } }, serve);
  }
}
