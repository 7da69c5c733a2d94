import { expect, test } from 'vitest';
import { makeRoom, type Place } from '../src/places.ts';

const SHARES = { sessions: 6, deviceSessions: 2, addressSessions: 3, credentialSessions: 5 };

/** Sessions that end by leaving the list. */
function relay() {
  const places: (Place & { readonly name: string })[] = [];
  const enter = (
    deviceThumbprint: string,
    address: string,
    { mintedBy = 'key', hasConnected = true } = {},
  ) => {
    const guest = { admission: { deviceThumbprint, mintedBy }, address };
    makeRoom(places, guest, SHARES);
    const end = () => void places.splice(places.indexOf(place), 1);
    const place = { ...guest, name: deviceThumbprint, hasConnected, end };
    places.push(place);
    return place;
  };
  return { enter, names: () => places.map(({ name }) => name).join('') };
}

const refused = (code: string, message = '') =>
  expect.objectContaining({ name: 'Refused', code, message: expect.stringContaining(message) });

test('a device, an address and a credential have a share, and what ends is free again', () => {
  const { enter } = relay();
  const [first] = ['192.0.2.1', '192.0.2.1'].map((address) => enter('a', address));
  expect(() => enter('a', '192.0.2.9')).toThrow(refused('TOO_MANY_SESSIONS', 'device'));
  // The same address, as an IPv6 socket has it.
  enter('b', '::ffff:192.0.2.1');
  expect(() => enter('c', '192.0.2.1')).toThrow(refused('TOO_MANY_SESSIONS', 'address'));
  for (const address of ['2001:db8::1', '2001:db8::2']) enter(address, address);
  expect(() => enter('d', '192.0.2.9')).toThrow(refused('TOO_MANY_SESSIONS', 'credential'));
  enter('d', '2001:db8::3', { mintedBy: 'other' });
  expect(() => enter('e', '192.0.2.9', { mintedBy: 'other' })).toThrow(refused('FULL'));
  first!.end();
  expect(() => enter('e', '2001:db8:0:0:9::', { mintedBy: 'other' })).toThrow(refused('TOO_MANY_SESSIONS'));
  enter('e', '2001:db8:0:1::', { mintedBy: 'other' });
});

test('in a full share the oldest session that has not connected makes room, and none of another share', () => {
  const { enter, names } = relay();
  const half = { hasConnected: false };
  enter('x', '192.0.2.9', half);
  enter('a', '192.0.2.1');
  for (const device of ['b', 'c', 'd']) enter(device, '192.0.2.1', half);
  expect(names()).toBe('xacd');
  enter('e', '192.0.2.2');
  // The address and the credential are full: one session makes room in both.
  enter('f', '192.0.2.1');
  expect(names()).toBe('xadef');
});

test('a newcomer that one share refuses ends nothing in another', () => {
  const { enter, names } = relay();
  enter('a', '192.0.2.1', { hasConnected: false });
  enter('a', '192.0.2.2', { hasConnected: false });
  for (let count = 0; count < 3; count += 1) enter(`${count}`, '192.0.2.3');
  expect(() => enter('a', '192.0.2.3')).toThrow(refused('TOO_MANY_SESSIONS', 'address'));
  expect(names()).toBe('aa012');
});
