/** The reference page at `/docs`: the description, to read and to try out. Nothing on it comes from elsewhere. */
import type { FastifySwaggerUiOptions } from '@fastify/swagger-ui';

const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" width="140" height="28" viewBox="0 0 140 28" role="img" aria-label="Boxoffice">
<text x="0" y="21" font-family="system-ui, sans-serif" font-size="22" font-weight="700" fill="#fff">Boxoffice</text></svg>`;

/** The page styles some elements one by one; scripts are ours alone. */
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function reference(): FastifySwaggerUiOptions {
  return {
    routePrefix: '/docs',
    staticCSP: CSP,
    logo: { type: 'image/svg+xml', content: Buffer.from(LOGO), href: '/docs', target: '_self' },
    theme: { title: 'Boxoffice API' },
    uiConfig: { persistAuthorization: false, docExpansion: 'list', defaultModelsExpandDepth: -1 },
  };
}
