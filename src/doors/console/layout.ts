/** The layout of every page of the console. */
import { type Html, html } from '@boxoffice/pages/html';
import { type Ability, mayDo } from '../../access/rights/abilities.ts';
import type { Session } from '../../access/sessions/session.ts';
import type { Page } from '../consoles/answer.ts';
import { named } from '../consoles/components.ts';
import { renderNavigation, renderShell, renderWho, type Section, sectionAt } from '../consoles/shell.ts';

/** What the layout knows of the request. */
export interface Context {
  readonly path: string;
  readonly session: Session | undefined;
  /** The session of a person whose tenant is suspended or archived. */
  readonly closed: Session | undefined;
}

const SECTIONS: readonly (Section & { readonly needs: Ability })[] = [
  { path: '/console', also: ['/console/start'], name: 'Overview', needs: 'see_overview', group: 'Overview' },
  { path: '/console/spend', name: 'Spend', needs: 'see_money', group: 'Money' },
  { path: '/console/ledger', also: ['/console/charge'], name: 'Ledger', needs: 'see_money', group: 'Money' },
  {
    path: '/console/room-sessions',
    also: ['/console/room-cost'],
    name: 'Room sessions',
    needs: 'see_money',
    group: 'Money',
  },
  {
    path: '/console/statements',
    also: ['/console/billing-details', '/console/time-zone'],
    name: 'Statements',
    needs: 'see_money',
    group: 'Money',
  },
  {
    path: '/console/payments',
    also: ['/console/checkout'],
    name: 'Payments',
    needs: 'see_money',
    group: 'Money',
  },
  { path: '/console/budgets', name: 'Budgets', needs: 'see_money', group: 'Money' },
  { path: '/console/top-up', name: 'Automatic top-up', needs: 'see_money', group: 'Money' },
  { path: '/console/conflicts', name: 'Conflicts', needs: 'see_money', group: 'Money' },
  { path: '/console/prices', name: 'Prices', needs: 'see_money', group: 'Money' },
  { path: '/console/rooms', name: 'Rooms', needs: 'see_rooms', group: 'Rooms' },
  { path: '/console/rooms/bans', name: 'Bans', needs: 'see_rooms', group: 'Rooms' },
  { path: '/console/rooms/watchdogs', name: 'Watchdogs', needs: 'see_rooms', group: 'Rooms' },
  { path: '/console/people', name: 'People', needs: 'erase_people', group: 'Rooms' },
  { path: '/console/alerts', name: 'Alerts', needs: 'see_alerts', group: 'Alerts' },
  { path: '/console/mail', name: 'Mail', needs: 'see_alerts', group: 'Alerts' },
  { path: '/console/webhooks', name: 'Webhooks', needs: 'see_webhooks', group: 'Alerts' },
  { path: '/console/keys', name: 'Keys', needs: 'see_keys', group: 'Keys' },
  { path: '/console/devices', name: 'Devices', needs: 'see_keys', group: 'Keys' },
  { path: '/console/agents', name: 'Agents', needs: 'see_agents', group: 'Keys' },
  { path: '/console/members', name: 'Members', needs: 'see_members', group: 'Members' },
  { path: '/console/passkeys', name: 'Passkeys', needs: 'see_members', group: 'Members' },
  { path: '/console/sessions', name: 'Sessions', needs: 'see_members', group: 'Members' },
  { path: '/console/audit', name: 'Audit trail', needs: 'see_audit', group: 'Members' },
  { path: '/console/export', name: 'Export', needs: 'export_data', group: 'Members' },
];

/** The section of a path, unless the reader may not see it. */
export function sectionOf(path: string, who: Pick<Context, 'session'> | undefined): Section | undefined {
  return sectionAt(who ? sectionsFor(who.session) : SECTIONS, path);
}

function sectionsFor(session: Session | undefined): readonly Section[] {
  return session ? SECTIONS.filter(({ needs }) => mayDo(session.role, needs)) : [];
}

export function renderPage(shown: Page, context: Context | undefined): string {
  const session = context?.session;
  const isUnproved = session?.proof === 'signup' && !isProving(context!.path);
  const body = isUnproved ? html`${unprovedNote(session)}${shown.body}` : shown.body;
  return renderShell(
    { ...shown, body },
    {
      site: 'Boxoffice',
      brand: html`<a class="brand" href="/">Boxoffice</a>`,
      navigation: context && renderOwnNavigation(context),
      footer: html`<footer><a href="/docs">Documents</a> <a href="/docs/rest">API reference</a></footer>`,
    },
  );
}

/** The page of a link: opening it proves the address. */
function isProving(path: string): boolean {
  return path.startsWith('/console/login/');
}

/** A note after a signup: the address is not proved yet. */
function unprovedNote({ member }: Session): Html {
  return html`<form class="note" method="post" action="/console/confirm"><input type="hidden" name="next" value="/console">
<p>It is not proved yet that ${member && named(member.email)} is yours. <button>Send a link there</button></p></form>`;
}

const LOGGED_OUT = html`<nav class="way-in" aria-label="Boxoffice"><a href="/console/signup">Sign up</a><a href="/console/login">Log in</a></nav>`;

function renderOwnNavigation({ session, closed, path }: Context): Html {
  if (closed) return renderWho(html`<bdi>${closed.tenantName}</bdi><span>${closed.role}</span>`);
  if (!session) return LOGGED_OUT;
  const { role, tenantName } = session;
  const who = html`<a href="/console/tenants"><bdi>${tenantName}</bdi></a><span>${role}</span>`;
  return renderNavigation('Console', sectionsFor(session), path, who);
}
