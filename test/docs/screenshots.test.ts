/** Every page of both consoles has its pictures, and docs/console-pictures.md shows them. `npm run screenshots` takes them. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  filesOf,
  LOOKS,
  NO_PAGES,
  OPERATOR_PICTURES,
  OPERATORS_NO_PAGES,
  TENANT_PICTURES,
} from '../../scripts/screenshots/pictures.ts';
import { ROUTES } from '../../src/doors/console/routes.ts';
import { OPS_ROUTES } from '../../src/doors/ops/console/routes.ts';

const ROOT = new URL('../../', import.meta.url);
const FOLDER = new URL('docs/images/console/', ROOT);
const BYTES_MAX = 3_400_000;

const CONSOLES = [
  { name: 'tenants', routes: ROUTES, pictures: TENANT_PICTURES, noPages: NO_PAGES },
  { name: 'operators', routes: OPS_ROUTES, pictures: OPERATOR_PICTURES, noPages: OPERATORS_NO_PAGES },
];

describe.each(CONSOLES)('the console of $name', ({ routes, pictures, noPages }) => {
  test('has a picture of every page', () => {
    const pages = routes.filter(({ method }) => method === 'GET').map(({ path }) => path);
    expect([...new Set(pictures.map(({ route }) => route)), ...noPages].sort()).toEqual([...pages].sort());
  });

  test('is shown in docs/console-pictures.md, page by page and in both looks', () => {
    const text = readFileSync(new URL('docs/console-pictures.md', ROOT), 'utf8');
    for (const { name, shows, route } of pictures) {
      for (const look of LOOKS) expect(text).toContain(`="images/console/${name}-${look}.png"`);
      expect(text).toContain(`${shows}: \`${route}\``);
    }
  });
});

test('the folder holds these pictures, and is small', () => {
  const files = readdirSync(FOLDER);
  const expected = [...TENANT_PICTURES, ...OPERATOR_PICTURES].flatMap(filesOf);
  expect(files.toSorted()).toEqual(expected.toSorted());
  const bytes = files.reduce((sum, file) => sum + statSync(new URL(file, FOLDER)).size, 0);
  expect(bytes).toBeLessThan(BYTES_MAX);
});

test('the README begins with the overview, and then shows the video demo', () => {
  const beginning = readFileSync(new URL('README.md', ROOT), 'utf8').split('\n## ')[0]!;
  for (const look of LOOKS) {
    expect(beginning.slice(0, 700)).toContain(`docs/images/console/overview-${look}.png`);
    expect(beginning).toContain(`docs/images/video/video-${look}.png`);
  }
});
