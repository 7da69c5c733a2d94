/** The layout of every page of the console. */
import { renderDocument } from '@boxoffice/pages/document';
import { type Html, html } from '@boxoffice/pages/html';
import { contentSecurityPolicy } from '@boxoffice/pages/policy';
import { type Ability, mayDo } from '../../access/members/member.ts';
import type { Session } from '../../access/sessions/session.ts';
import { ICON_ASSET, SCRIPT_ASSET, STYLE_ASSET } from './assets/assets.ts';

export interface Page {
  readonly title: string;
  /** The `main` element is around it. */
  readonly body: Html;
  readonly layout?: 'wide' | 'narrow' | 'hero';
  /** Reload after so many seconds, in browsers without JavaScript. */
  readonly reloadSeconds?: number;
  /** Go there at once. It may be of another site. */
  readonly goesTo?: string;
}

/** What the layout knows of the request. */
interface Context {
  readonly path: string;
  readonly session: Session | undefined;
}

export const CONSOLE_POLICY = contentSecurityPolicy({ style: "'self'", script: true, forms: ["'self'"] });

const SECTIONS: readonly { readonly path: string; readonly name: string; readonly needs: Ability }[] = [
  { path: '/console', name: 'Overview', needs: 'see_overview' },
  { path: '/console/spend', name: 'Spend', needs: 'see_money' },
  { path: '/console/ledger', name: 'Ledger', needs: 'see_money' },
  { path: '/console/statements', name: 'Statements', needs: 'see_money' },
  { path: '/console/keys', name: 'Keys', needs: 'see_keys' },
  { path: '/console/members', name: 'Members', needs: 'see_members' },
];

export function renderPage(
  { title, body, layout = 'wide', reloadSeconds, goesTo }: Page,
  context: Context | undefined,
): string {
  const session = context?.session;
  return renderDocument({
    title: `${title} · Boxoffice`,
    head: html`<link rel="icon" href="${ICON_ASSET.path}">
<link rel="stylesheet" href="${STYLE_ASSET.path}">
<script src="${SCRIPT_ASSET.path}" defer></script>
${
  reloadSeconds !== undefined &&
  html`<noscript><meta http-equiv="refresh" content="${reloadSeconds}"></noscript>`
}${goesTo !== undefined && html`<meta http-equiv="refresh" content="0; url=${goesTo}">`}`,
    bodyClass: layout,
    body: html`<a class="skip" href="#main">Skip to the content</a>
<header class="top"><div>
<a class="brand" href="/">Boxoffice</a>
${session && context ? renderNavigation(session, context.path) : LOGGED_OUT}
</div></header>
<main id="main"${layout === 'hero' && html` class="hero"`}>
${body}
</main>
<footer><a href="/docs">API reference</a></footer>`,
  });
}

const LOGGED_OUT = html`<nav aria-label="Boxoffice"><a href="/console/signup">Sign up</a><a href="/console/login">Log in</a></nav>`;

function renderNavigation(session: Session, path: string): Html {
  const sections = SECTIONS.filter(({ needs }) => mayDo(session.role, needs));
  const current = sections.findLast((each) => path === each.path || path.startsWith(`${each.path}/`));
  return html`<nav aria-label="Console">${sections.map(
    (each) =>
      html`<a href="${each.path}"${each === current && html` aria-current="${each.path === path ? 'page' : 'true'}"`}>${each.name}</a>`,
  )}</nav>
<div class="who"><a href="/console/tenants"><bdi>${session.tenantName}</bdi></a><span>${session.role}</span>
<form class="inline" method="post" action="/console/logout"><button class="plain">Log out</button></form></div>`;
}
