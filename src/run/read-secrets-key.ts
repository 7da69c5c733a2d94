/** The key that encrypts secrets at rest, and another one that is only opened with. */
import { SECRETS_KEY_BYTES } from '../base/lib/secret-box.ts';
import { ConfigError, type Env } from './config-error.ts';

/** Decodes a base64 key of 32 bytes; `undefined` for anything else. */
export function parseSecretsKey(text: string): Buffer | undefined {
  const key = Buffer.from(text, 'base64');
  return key.length === SECRETS_KEY_BYTES && key.toString('base64') === text ? key : undefined;
}

export function readSecretsKey(env: Env, name: 'SECRETS_KEY' | 'SECRETS_KEY_FALLBACK'): Buffer | undefined {
  const text = env[name];
  if (!text) return undefined;
  const key = parseSecretsKey(text);
  // The value is a secret, so it is not repeated.
  if (!key)
    throw new ConfigError(`${name} must be 32 bytes in base64, as \`openssl rand -base64 32\` prints`);
  return key;
}
