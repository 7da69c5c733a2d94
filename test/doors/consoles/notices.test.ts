import { expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { sentence } from '../../../src/doors/consoles/notices.ts';

test('a page speaks of the network, not of an address, after too many signups', () => {
  expect(sentence(new Failure('too_many_signups'))).toMatch(/from your network/);
  const ofAll = new Failure('too_many_signups', { message: 'too many signups: try again later' });
  expect(sentence(ofAll)).toBe('Too many signups: try again later.');
});
