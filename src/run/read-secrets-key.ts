/** The key that encrypts signing keys at rest. */
import { SECRETS_KEY_BYTES } from '../base/lib/secret-box.ts';
import { ConfigError, type Env } from './config-error.ts';

/** Decodes a base64 key of 32 bytes; `undefined` for anything else. */
export function parseSecretsKey(text: string): Buffer | undefined {
  const key = Buffer.from(text, 'base64');
  return key.length === SECRETS_KEY_BYTES && key.toString('base64') === text ? key : undefined;
}

export function readSecretsKey(env: Env): Buffer | undefined {
  if (!env.SECRETS_KEY) return undefined;
  const key = parseSecretsKey(env.SECRETS_KEY);
  // The value is a secret, so it is not repeated.
  if (!key)
    throw new ConfigError('SECRETS_KEY must be 32 bytes in base64, as `openssl rand -base64 32` prints');
  return key;
}
