import { expect, test } from 'vitest';
import { withoutSlash } from '../../../src/doors/consoles/route.ts';

test.each([
  ['/console/', '/console'],
  ['/console/keys/', '/console/keys'],
  ['/console', undefined],
  ['/', undefined],
  ['//elsewhere.example/', undefined],
  ['/console//', undefined],
])('%s without a slash too many is %s', (path, bare) => {
  expect(withoutSlash(path)).toBe(bare);
});
