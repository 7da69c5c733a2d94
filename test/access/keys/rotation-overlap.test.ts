import { describe, expect, it } from 'vitest';
import { rotateCredential } from '../../../src/access/devices/rotate-credential.ts';
import { rotateKey } from '../../../src/access/keys/rotate-key.ts';
import { assertOverlap, OVERLAP_SECONDS_DEFAULT } from '../../../src/access/keys/rotation-overlap.ts';
import { newTenantId } from '../../../src/base/tenants/tenant.ts';
import { callerOf } from '../../support/tenants.ts';

const CALLER = callerOf(newTenantId());
/** Stands for a database that is not used. */
const NOT_ASKED = {} as never;

describe('assertOverlap', () => {
  it.each([0, 1, OVERLAP_SECONDS_DEFAULT, 604_800])('accepts %d seconds', (seconds) => {
    expect(() => assertOverlap(seconds)).not.toThrow();
  });

  it.each([-1, 604_801, Number.NaN])('throws an assertion error for %d seconds', (seconds) => {
    expect(() => assertOverlap(seconds)).toThrow('assertion failed: overlap of a rotation');
  });

  it.each([
    [
      'rotateKey',
      () => rotateKey(NOT_ASKED, NOT_ASKED, CALLER, { keyId: '0123456789abcdef', overlapSeconds: 604_801 }),
    ],
    ['rotateCredential', () => rotateCredential(NOT_ASKED, CALLER, '0123456789abcdef', 604_801)],
  ])('comes first in %s', async (_, rotate) => {
    await expect(rotate()).rejects.toThrow('assertion failed: overlap of a rotation');
  });
});
