/** Where the doors listen, and what they answer to. */
import { resolve } from 'node:path';
import type { PemFiles, PemVariables } from '../base/lib/pem-files.ts';
import { ConfigError, type Env, wrong } from './config-error.ts';
import { readHost, readList, readPort } from './read-values.ts';

export interface ListenerAddress {
  readonly host: string;
  readonly port: number;
}

/** `undefined`: neither variable is set. */
export function readPemFiles(env: Env, { certificate, key }: PemVariables): PemFiles | undefined {
  const [certificateFile, keyFile] = [env[certificate], env[key]];
  if (!certificateFile && !keyFile) return undefined;
  if (!certificateFile) throw new ConfigError(`${certificate} must be set when ${key} is`);
  if (!keyFile) throw new ConfigError(`${key} must be set when ${certificate} is`);
  return { certificateFile: resolve(certificateFile), keyFile: resolve(keyFile) };
}

/** Either variable enables the separate address. The other one then has a default. */
export function readJoinAddress(env: Env, host: string): ListenerAddress | undefined {
  if (!env.JOIN_HOST && !env.JOIN_PORT) return undefined;
  return { host: readHost(env, 'JOIN_HOST', host), port: readPort(env, 'JOIN_PORT', 8084) };
}

export function readOrigins(env: Env): readonly string[] {
  const origins = readList(env, 'JOIN_ORIGINS');
  for (const each of origins) {
    const isOrigin = /^https?:[^*]+$/.test(each) && URL.parse(each)?.origin === each;
    if (!isOrigin && (each !== '*' || origins.length > 1)) {
      throw wrong('JOIN_ORIGINS', 'a list of origins, such as https://example.com, or *', each);
    }
  }
  return origins;
}

/** The address of a listener on this machine. */
export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
