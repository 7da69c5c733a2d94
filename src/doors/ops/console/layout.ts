/** The layout of every page of the operators' console. It looks like that of tenants, and says that it is not. */
import { type Html, html } from '@boxoffice/pages/html';
import type { OperatorSession } from '../../../access/operators/operator-session.ts';
import type { Page } from '../../pages/answer.ts';
import { placeLink, placeOf, renderShell, whoIs } from '../../pages/shell.ts';

/** What the layout knows of the request. */
interface Context {
  readonly path: string;
  readonly session: OperatorSession | undefined;
}

interface Section {
  readonly path: string;
  readonly name: string;
  readonly also?: readonly string[];
}

const SECTIONS: readonly Section[] = [
  { path: '/console', name: 'Overview' },
  { path: '/console/tenants', name: 'Tenants' },
  { path: '/console/payments', name: 'Payments' },
  { path: '/console/revenue', name: 'Revenue' },
  { path: '/console/conflicts', name: 'Conflicts' },
  { path: '/console/rates', name: 'Rates' },
  { path: '/console/signing-keys', name: 'Signing keys' },
  { path: '/console/verify', name: 'Verify' },
  { path: '/console/audit', name: 'Audit' },
];

export function renderOpsPage(shown: Page, context: Context | undefined): string {
  const session = context?.session;
  return renderShell(shown, {
    site: 'Boxoffice operators',
    brand: html`<a class="brand" href="/console">Boxoffice operators</a>`,
    navigation: session && context && renderNavigation(session, context.path),
  });
}

function renderNavigation({ operator }: OperatorSession, path: string): Html {
  const current = placeOf(SECTIONS, path);
  return html`<nav aria-label="Operators">${SECTIONS.map((each) => placeLink(each, each.name, each === current, path))}</nav>
${whoIs(html`<bdi>${operator}</bdi>`)}`;
}
