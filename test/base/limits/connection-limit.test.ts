import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { parseRange } from '../../../src/base/lib/address.ts';
import { ConnectionLimit } from '../../../src/base/limits/connection-limit.ts';

class FakeSocket extends EventEmitter {
  readonly remoteAddress: string | undefined;
  destroyed = false;

  constructor(remoteAddress: string | undefined) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy(): this {
    this.destroyed = true;
    return this;
  }
}

/** Connections that the limit keeps, by the addresses of their clients. */
function open(limits: { max: number; perAddressMax: number; trusted?: string[] }) {
  const { trusted = [], ...rest } = limits;
  const limit = new ConnectionLimit({ ...rest, trusted: trusted.map((each) => parseRange(each)!) });
  return (address: string | undefined) => {
    const socket = new FakeSocket(address);
    const admitted = limit.admit(socket as never);
    expect(socket.destroyed).toBe(!admitted);
    return { admitted, close: () => socket.emit('close') };
  };
}

describe('connections', () => {
  test('in all', () => {
    const connect = open({ max: 2, perAddressMax: 10 });
    const [first, second] = [connect('192.0.2.1'), connect('192.0.2.2')];
    expect([first.admitted, second.admitted, connect('192.0.2.3').admitted]).toStrictEqual([
      true,
      true,
      false,
    ]);
    first.close();
    expect(connect('192.0.2.3').admitted).toBe(true);
  });

  test.each([
    ['an IPv4 address', ['192.0.2.1', '::ffff:192.0.2.1', '192.0.2.1'], '192.0.2.2'],
    ['a /64 of IPv6', ['2001:db8::1', '2001:db8::2', '2001:db8::3'], '2001:db8:0:1::1'],
  ])('of %s', (_what, own, other) => {
    const connect = open({ max: 10, perAddressMax: 2 });
    const first = connect(own[0]);
    expect(connect(own[1]).admitted).toBe(true);
    expect(connect(own[2]).admitted).toBe(false);
    expect(connect(other).admitted).toBe(true);
    first.close();
    expect(connect(own[2]).admitted).toBe(true);
  });

  test('of a trusted proxy are limited in all only', () => {
    const connect = open({ max: 3, perAddressMax: 1, trusted: ['10.0.0.0/8'] });
    const admitted = Array.from({ length: 4 }, () => connect('10.0.0.1').admitted);
    expect(admitted).toStrictEqual([true, true, true, false]);
  });

  test('whose client has hung up already is not counted', () => {
    const connect = open({ max: 1, perAddressMax: 1 });
    expect(connect(undefined).admitted).toBe(false);
    expect(connect('192.0.2.1').admitted).toBe(true);
  });
});
