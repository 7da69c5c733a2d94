/** The page at `/docs/rest`: every door of the service, and the reference of REST, in the look of the console. */
import { renderDocument } from '@boxoffice/pages/document';
import { type Html, html } from '@boxoffice/pages/html';
import { TOKENS } from '@boxoffice/pages/tokens.css';
import { ICON_ASSET } from '../consoles/assets/assets.ts';
import { renderTop, TOP_STYLE } from './site/top.ts';

/** The viewer has a dark look of its own, by a class. */
export const REFERENCE_SCRIPT_TEXT = `'use strict';
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
`;

/** Opens the viewer. API keys that are typed into it are not kept. */
export const VIEWER_SCRIPT_TEXT = `'use strict';
window.onload = () => SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: 'StandaloneLayout',
  docExpansion: 'list',
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  persistAuthorization: false,
  validatorUrl: null,
});
`;

/** No answer has links, and their empty column would not fit on a phone. */
export const REFERENCE_STYLE_TEXT = `${TOKENS}
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 var(--sans); }
html { --top-width: 72rem; }
html.dark-mode { background: var(--ground); }
${TOP_STYLE}main { max-width: 72rem; margin: 0 auto; padding: 2rem 1.25rem 0; }
main a { color: var(--accent); text-underline-offset: .15em; }
h1 { margin: 0 0 1.25rem; font-size: 1.625rem; line-height: 1.25; }
h2 { margin: 2rem 0 .75rem; font-size: 1.0625rem; }
main > p { max-width: 46rem; }
main code { font: .875em/1.5 var(--mono); overflow-wrap: anywhere; }
.doors { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); margin: 0; padding: 0; list-style: none; }
.doors li { background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; padding: 1rem 1.25rem; font-size: .9375rem; }
.doors h2 { margin: 0 0 .25rem; font-size: 1rem; }
.doors p { margin: 0; }
.doors p + p { margin-top: .5rem; color: var(--quiet); }
#swagger-ui { max-width: 75rem; margin: 0 auto; }
.swagger-ui .topbar, .swagger-ui .response-col_links, .swagger-ui .info .main .link { display: none; }
.swagger-ui .info { margin: 1.5rem 0; }
.swagger-ui .scheme-container { background: none; box-shadow: none; padding: 0 0 1rem; }
html.dark-mode .swagger-ui { background: none; }
@media print { .top, .skip { display: none; } }
`;

interface Door {
  readonly name: string;
  readonly what: string;
  readonly reference: Html;
}

const DOORS: readonly Door[] = [
  {
    name: 'REST',
    what: 'Signup, billing, keys, usage, alerts, webhooks: JSON over HTTP, with an API key.',
    reference: html`Below, as <a href="/openapi.json">OpenAPI 3.1</a>, <a href="/docs/usage">reporting usage</a>, <a href="/docs/payments">payments</a>.`,
  },
  {
    name: 'Joining',
    what: 'Devices without a back end get a token at POST /join, with a device credential and the public half of a key of their own.',
    reference: html`Below, and <a href="/docs/join">joining</a>. <a href="/docs/tokens">Tokens</a>; their keys: <a href="/.well-known/jwks.json">JWKS</a>.`,
  },
  {
    name: 'Control plane',
    what: 'Back ends run rooms over gRPC: tokens, moderation, watchdogs, streams of events.',
    reference: html`<a href="/docs/control-plane">The control plane</a>, with its .proto files. The server has reflection and health checks.`,
  },
  {
    name: 'Webhooks',
    what: 'What happens to a tenant is sent to its own addresses, signed, in order, and again until it arrives.',
    reference: html`<a href="/docs/webhooks">Webhooks</a>, and the types of <a href="/docs/events">events</a>.`,
  },
  {
    name: 'Console',
    what: 'Pages for the people of a tenant: sign up, pay, look at everything, run rooms.',
    reference: html`<a href="/console">Open the console</a>. <a href="/docs/console">What it has</a>.`,
  },
  {
    name: 'Operators',
    what: 'A port that is never public: /healthz, /readyz, /metrics, and a console for all tenants.',
    reference: html`<a href="/docs/operations">Set it up</a>, <a href="/docs/procedures">keep it running</a>, <a href="/docs/reference">settings</a>.`,
  },
];

/** `addressOf` gives the address of a file that the page loads. */
export function renderReference(addressOf: (name: string) => string): string {
  return renderDocument({
    title: 'Boxoffice API',
    head: html`<link rel="icon" href="${ICON_ASSET.path}">
<script src="${addressOf('look.js')}"></script>
<link rel="stylesheet" href="${addressOf('swagger-ui.css')}">
<link rel="stylesheet" href="${addressOf('boxoffice.css')}">`,
    body: html`${renderTop('/docs/rest')}
<main id="main">
<h1>The doors of Boxoffice</h1>
<ul class="doors">${DOORS.map(
      ({ name, what, reference }) => html`<li><h2>${name}</h2><p>${what}</p><p>${reference}</p></li>`,
    )}</ul>
<h2>REST, and joining</h2>
</main>
<div id="swagger-ui"></div>
<script src="${addressOf('swagger-ui-bundle.js')}" charset="UTF-8"></script>
<script src="${addressOf('swagger-ui-standalone-preset.js')}" charset="UTF-8"></script>
<script src="${addressOf('viewer.js')}" charset="UTF-8"></script>`,
  });
}
