/**
 * Which addresses the service may connect to on behalf of a tenant.
 *
 * Source: the special-purpose registries of IANA for IPv4 and IPv6 (RFC 6890). An address is public only if
 * none of the ranges below holds it; of IPv6, only 2000::/3 is handed out for the public internet at all.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type AddressRange, isWithin, parseRange } from '../../base/lib/address.ts';

/** Ranges that the operator allows although they are not public. */
export type AddressRanges = readonly AddressRange[];

/** Why an address is not public, as a word that fits before `address`. */
export type AddressKind =
  | 'private'
  | 'loopback'
  | 'link-local'
  | 'shared'
  | 'multicast'
  | 'unspecified'
  | 'documentation'
  | 'benchmarking'
  | 'translated'
  | 'reserved';

/** The first range that holds an address decides. Forms that hold an IPv4 address are all `translated`. */
const SPECIAL: readonly (readonly [cidr: string, kind: AddressKind])[] = [
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'reserved'],
  ['192.52.193.0/24', 'reserved'],
  ['192.88.99.0/24', 'translated'],
  ['192.168.0.0/16', 'private'],
  ['192.175.48.0/24', 'reserved'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  // IPv4-compatible, IPv4-mapped, IPv4-translated, NAT64 (well-known and local prefix), Teredo, 6to4.
  ['::/96', 'translated'],
  ['::ffff:0:0/96', 'translated'],
  ['::ffff:0:0:0/96', 'translated'],
  ['64:ff9b::/96', 'translated'],
  ['64:ff9b:1::/48', 'translated'],
  ['2001::/32', 'translated'],
  ['2002::/16', 'translated'],
  ['2001:2::/48', 'benchmarking'],
  ['2001:db8::/32', 'documentation'],
  ['3fff::/20', 'documentation'],
  ['2001::/23', 'reserved'],
  ['2620:4f:8000::/48', 'reserved'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'private'],
  ['ff00::/8', 'multicast'],
];

const RANGES = SPECIAL.map(([cidr, kind]) => [parseRange(cidr)!, kind] as const);
const PUBLIC_IPV6 = parseRange('2000::/3')!;

/**
 * Why the service must not connect to `address`; `undefined` if it may.
 *
 * `address` is text as a resolver or `URL` writes it. Text that is no address is `reserved`.
 */
export function findRefusal(address: string, allowed: AddressRanges): AddressKind | undefined {
  if (isIP(address) === 0) return 'reserved';
  return isWithin(allowed, address) ? undefined : kindOf(address);
}

/** `undefined` for a public address. */
function kindOf(address: string): AddressKind | undefined {
  // A zone names an interface of this machine. Only local addresses have one.
  const parsed = ipaddr.parse(address.split('%', 1)[0]!);
  const holds = ([network, bits]: AddressRange) =>
    network.kind() === parsed.kind() && parsed.match(network, bits);
  const special = RANGES.find(([range]) => holds(range));
  if (special !== undefined) return special[1];
  return parsed.kind() === 'ipv4' || holds(PUBLIC_IPV6) ? undefined : 'reserved';
}
