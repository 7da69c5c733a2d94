/** The layout of every page of the operators' console. It looks like that of tenants, and says that it is not. */
import { html } from '@boxoffice/pages/html';
import type { OperatorSession } from '../../../access/operators/operator-session.ts';
import type { Page } from '../../consoles/answer.ts';
import { renderNavigation, renderShell, type Section, sectionAt } from '../../consoles/shell.ts';
import { SEARCH_MAX } from './fields.ts';

/** What the layout knows of the request. */
export interface Context {
  readonly path: string;
  readonly session: OperatorSession | undefined;
}

const SECTIONS: readonly Section[] = [
  { path: '/console', name: 'Overview', group: 'Overview' },
  { path: '/console/tenants', name: 'Tenants', group: 'Tenants' },
  { path: '/console/payments', name: 'Payments', group: 'Money' },
  { path: '/console/revenue', name: 'Revenue', group: 'Money' },
  { path: '/console/rates', name: 'Rates', group: 'Money' },
  { path: '/console/verify', name: 'Verify', group: 'Checks' },
  { path: '/console/conflicts', name: 'Conflicts', group: 'Checks' },
  { path: '/console/signing-keys', name: 'Signing keys', group: 'Security' },
  { path: '/console/sessions', name: 'Sessions', group: 'Security' },
  { path: '/console/audit', name: 'Audit', group: 'Security' },
];

/** The section of a path. */
export function sectionOf(path: string): Section | undefined {
  return sectionAt(SECTIONS, path);
}

const SEARCH = html`<form class="search" role="search" method="get" action="/console/tenants">
<input type="search" name="search" maxlength="${SEARCH_MAX}" aria-label="Find a tenant by name, address or any id" placeholder="Find a tenant" required>
<button>Find</button></form>`;

export function renderOpsPage(shown: Page, context: Context | undefined): string {
  const session = context?.session;
  return renderShell(shown, {
    site: 'Boxoffice operators',
    brand: html`<a class="brand" href="/console">Boxoffice operators</a>`,
    navigation:
      session &&
      context &&
      html`${SEARCH}
${renderNavigation('Operators', SECTIONS, context.path, html`<bdi>${session.operator}</bdi>`)}`,
  });
}
