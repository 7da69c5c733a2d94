import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { drawStates, TENANT } from '../../scripts/make-state-pictures.ts';
import { operatorMayMove, TENANT_STATUSES } from '../../src/base/tenants/tenant.ts';

test('the picture in the documents is what is drawn', () => {
  const picture = readFileSync(join(import.meta.dirname, '../../docs/images/states.svg'), 'utf8');
  expect(picture).toBe(drawStates());
});

test('operators move tenants as drawn', () => {
  const drawn = TENANT.moves.filter(([, , when]) => when === 'operator').map(([from, to]) => [from, to]);
  const moves = TENANT_STATUSES.flatMap((from) =>
    TENANT_STATUSES.filter((to) => operatorMayMove(from, to)).map((to) => [from, to]),
  );
  // One arrow stands for all that end in `deleted`.
  const isDrawn = ([from, to]: string[]) => to !== 'deleted' || from === 'archived';
  expect(drawn.toSorted()).toEqual(moves.filter(isDrawn).toSorted());
  expect(moves.filter(([, to]) => to === 'deleted').map(([from]) => from)).toEqual(
    TENANT_STATUSES.filter((from) => from !== 'deleted'),
  );
});
