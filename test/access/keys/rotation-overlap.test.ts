import { describe, expect, it } from 'vitest';
import { assertOverlap, OVERLAP_SECONDS_DEFAULT } from '../../../src/access/keys/rotation-overlap.ts';

describe('assertOverlap', () => {
  it.each([0, 1, OVERLAP_SECONDS_DEFAULT, 604_800])('accepts %d seconds', (seconds) => {
    expect(() => assertOverlap(seconds)).not.toThrow();
  });

  it.each([-1, 604_801, Number.NaN])('throws an assertion error for %d seconds', (seconds) => {
    expect(() => assertOverlap(seconds)).toThrow('assertion failed: overlap of a rotation');
  });
});
