/**
 * Resolves the name of a receiver for one connection, and lets it connect to checked addresses only.
 *
 * The socket connects to the addresses that this lookup gave it and asks for no others, so a name that resolves
 * differently a moment later has no effect.
 */
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { type AddressRanges, findRefusedKind, isAllowed } from './address-guard.ts';
import { RequestError } from './request-error.ts';

/** The addresses of a name. Throws, or gives none, if there are none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

/** Two questions of a name server that loses the first fit into the time for a connection. */
const DNS_OPTIONS = { timeout: 1_500, tries: 2 };

/**
 * Asks the name servers of the machine directly. The system's resolver blocks one of a few threads for each
 * name, so slow name servers of one tenant would hold up the files and the cryptography of the process.
 */
export function resolverOfMachine(): ResolveName {
  const resolver = new Resolver(DNS_OPTIONS);
  return async (name) => {
    // Name servers do not know this one. Source: RFC 6761, section 6.3.
    if (/^(.+\.)?localhost\.?$/i.test(name)) return ['127.0.0.1', '::1'];
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/** For https: every address of the name must be public, or in `allowed`. */
export function tlsLookup(resolve: ResolveName, allowed: AddressRanges): LookupFunction {
  return guardedLookup(resolve, (address) => {
    const kind = findRefusedKind(address, allowed);
    return kind && `a ${kind} address`;
  });
}

/** For plain http: every address of the name must be in `allowed`. */
export function plainLookup(resolve: ResolveName, allowed: AddressRanges): LookupFunction {
  return guardedLookup(resolve, refuseForPlain(allowed));
}

const refuseForPlain =
  (allowed: AddressRanges): Refuse =>
  (address) =>
    isAllowed(address, allowed) ? undefined : 'an address that needs https';

/** Like a connection by plain http, without one. Fails with a `RequestError`. */
export async function checkPlainName(
  name: string,
  resolve: ResolveName,
  allowed: AddressRanges,
): Promise<void> {
  await checkedAddresses(name, resolve, refuseForPlain(allowed));
}

/** `refuse` says what is wrong with an address. A refusal or an unknown name is a `RequestError`. */
function guardedLookup(resolve: ResolveName, refuse: Refuse): LookupFunction {
  return (name, options, callback) => {
    checkedAddresses(name, resolve, refuse).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        if (options.all) callback(null, found);
        else callback(null, found[0]!.address, found[0]!.family);
      },
      (error) => callback(error, []),
    );
  };
}

type Refuse = (address: string) => string | undefined;

async function checkedAddresses(
  name: string,
  resolve: ResolveName,
  refuse: Refuse,
): Promise<readonly string[]> {
  const addresses = await resolve(name).catch(() => []);
  if (addresses.length === 0) throw new RequestError(`the name ${name} does not resolve`);
  for (const address of addresses) {
    const why = refuse(address);
    // Without the address, so that tenants cannot map the names of the operator's network.
    if (why !== undefined) throw new RequestError(`the name ${name} resolves to ${why}`);
  }
  return addresses;
}
