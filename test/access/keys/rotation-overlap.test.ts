import { describe, expect, it } from 'vitest';
import { assertOverlap, OVERLAP_SECONDS_DEFAULT } from '../../../src/access/keys/rotation-overlap.ts';

describe('assertOverlap', () => {
  it.each([0, 1, OVERLAP_SECONDS_DEFAULT, 604_800])('takes %d seconds', (seconds) => {
    expect(() => assertOverlap(seconds)).not.toThrow();
  });

  it.each([-1, 604_801, Number.NaN])('takes %d seconds for our own mistake', (seconds) => {
    expect(() => assertOverlap(seconds)).toThrow('assertion failed: overlap of a rotation');
  });
});
