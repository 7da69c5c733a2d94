/** The pages of both consoles are reached from their navigation, and their documents tell of them. */
import { readFileSync } from 'node:fs';
import { html } from '@boxoffice/pages/html';
import { describe, expect, test } from 'vitest';
import { OPERATOR_PICTURES, TENANT_PICTURES } from '../../scripts/screenshots/pictures.ts';
import type { OperatorSession } from '../../src/access/operators/operator-session.ts';
import type { Session } from '../../src/access/sessions/session.ts';
import { renderPage } from '../../src/doors/console/layout.ts';
import { renderOpsPage } from '../../src/doors/ops/console/layout.ts';

const read = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

const PAGE = { title: '', body: html`` };
const owner = { role: 'owner', tenantName: '' } as Session;
const operator = { operator: '' } as OperatorSession;

const CONSOLES = [
  {
    name: 'tenants',
    told: read('console.md'),
    pictures: TENANT_PICTURES,
    /** Reached from the bar of every page, and from a log-in. */
    elsewhere: ['/console/confirm', '/console/tenants', '/console/review'],
    render: (path: string) => renderPage(PAGE, { path, session: owner, closed: undefined }),
  },
  {
    name: 'operators',
    told: read('console-operators.md'),
    pictures: OPERATOR_PICTURES,
    elsewhere: ['/console/confirm'],
    render: (path: string) => renderOpsPage(PAGE, { path, session: operator }),
  },
];

describe.each(CONSOLES)('the console of $name', ({ told, pictures, elsewhere, render }) => {
  const paths = pictures.filter((each) => each.as !== 'nobody').map(({ route }) => route);

  test('leads to every page, or to one above it', () => {
    expect(paths.filter((path) => !render(path).includes('aria-current'))).toEqual(elsewhere);
  });

  test('is told in its document, with every page that it leads to', () => {
    const led = paths.filter((path) => render(path).includes('aria-current="page"'));
    expect(led.length).toBeGreaterThan(9);
    expect(led.filter((path) => !told.includes(`\n| \`${path}\` `))).toEqual([]);
  });
});
