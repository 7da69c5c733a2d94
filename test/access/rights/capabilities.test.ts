import { expect, test } from 'vitest';
import {
  CAPABILITIES,
  isCapability,
  joinCapabilities,
  ROLE_CAPABILITIES,
} from '../../../src/access/rights/capabilities.ts';
import { PUBLISH_RIGHTS } from '../../../src/access/rights/publish-rights.ts';

test('joinCapabilities returns a sorted list without power over others', () => {
  const all = joinCapabilities(PUBLISH_RIGHTS);
  expect(all).toStrictEqual([...all].sort());
  expect(all.filter((each) => /^(moderate|room|watchdog)/.test(each))).toStrictEqual([]);
  expect(joinCapabilities([])).toStrictEqual(all.filter((each) => !each.startsWith('publish.')));
});

test('capabilities are well formed, unique and in order', () => {
  expect(CAPABILITIES.filter((each) => !/^[a-z]+(\.[a-z_]+)+$/.test(each))).toStrictEqual([]);
  expect([...new Set(CAPABILITIES)].sort()).toStrictEqual(CAPABILITIES);
});

test('roles have known capabilities; only a host may act on others', () => {
  const { host, audience, broadcast_audience } = ROLE_CAPABILITIES;
  expect([...host, ...audience, ...broadcast_audience].every(isCapability)).toBe(true);
  const acts = (each: string) => /^(moderate|room|watchdog)\./.test(each);
  expect([host.some(acts), audience.some(acts), broadcast_audience.some(acts)]).toStrictEqual([
    true,
    false,
    false,
  ]);
  expect(broadcast_audience.some((each) => each.startsWith('publish.'))).toBe(false);
});
