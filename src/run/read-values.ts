/** Values of the environment that several settings have in common. Each fails with `ConfigError` for another text. */
import { isIP } from 'node:net';
import { parseRange } from '../base/lib/address.ts';
import { ConfigError, type Env, wrong } from './config-error.ts';

export function readInteger(env: Env, name: string, fallback: number, min: number, max: number): number {
  const text = env[name];
  if (!text) return fallback;
  const value = Number(text);
  if (!/^[0-9]+$/.test(text) || value < min || value > max) {
    throw wrong(name, `a whole number from ${min} to ${max}`, text);
  }
  return value;
}

const PERIOD = /^([0-9]{1,5})([hd])$/;
const HOUR_SECONDS = 3_600;

/** Seconds; `undefined` for `never`. */
export function readPeriod(env: Env, name: string, fallback: string): number | undefined {
  const text = env[name] || fallback;
  if (text === 'never') return undefined;
  const [, count, unit] = PERIOD.exec(text === '0' ? '0h' : text) ?? [];
  if (count === undefined) throw wrong(name, 'hours or days such as 36h or 2d, 0, or never', text);
  return Number(count) * HOUR_SECONDS * (unit === 'd' ? 24 : 1);
}

export function readHost(env: Env, name: string, fallback: string): string {
  const host = env[name] || fallback;
  if (isIP(host) === 0 && !/^[A-Za-z0-9.-]+$/.test(host))
    throw wrong(name, 'an address or a host name', host);
  return host;
}

/** Without ports. An IPv6 address may have brackets. */
export function readHosts(env: Env, name: string): readonly string[] {
  return readList(env, name).map((each) => {
    const host = each.toLowerCase().replace(/^\[(.*)\]$/, '$1');
    if (isIP(host) === 0 && !/^[a-z0-9.-]+$/.test(host))
      throw wrong(name, 'a list of addresses or host names without ports', each);
    return host;
  });
}

/** 0 asks the operating system for a free port. */
export function readPort(env: Env, name: string, fallback: number): number {
  return readInteger(env, name, fallback, 0, 65_535);
}

export function readChoice<T extends string>(env: Env, name: string, choices: readonly T[], fallback: T): T {
  const text = env[name];
  if (!text) return fallback;
  const choice = choices.find((each) => each === text);
  if (choice === undefined) throw wrong(name, `one of ${choices.join(', ')}`, text);
  return choice;
}

export function readFlag(env: Env, name: string, fallback: boolean): boolean {
  return readChoice(env, name, ['true', 'false'], `${fallback}`) === 'true';
}

export function readList(env: Env, name: string): readonly string[] {
  return (env[name] ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean);
}

export function readUrl(env: Env, name: string): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  const url = URL.parse(text);
  if (url?.username || url?.password) {
    throw new ConfigError(`${name} may not hold a user name or a password`);
  }
  if (url === null || !/^https?:$/.test(url.protocol) || url.search || url.hash) {
    throw wrong(name, 'an http or https address', text);
  }
  return text.replace(/\/+$/, '');
}

export function readNetworks(env: Env, name: string): readonly string[] {
  const list = readList(env, name);
  for (const each of list) {
    if (!parseRange(each)) {
      throw wrong(name, 'a list of addresses or CIDRs, such as 10.0.0.0/8', each);
    }
  }
  return list;
}
