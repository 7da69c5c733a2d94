/**
 * Where the key that encrypts secrets at rest comes from:
 * the environment, or a file next to the embedded database.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { keepFile } from '../base/lib/keep-file.ts';
import { SECRETS_KEY_BYTES } from '../base/lib/secret-box.ts';
import { StartError } from '../base/lib/start-error.ts';
import type { Config } from './config.ts';
import { parseSecretsKey } from './read-secrets-key.ts';

const FILE = 'secrets.key';

/**
 * With the embedded database a key is made once and kept in `DATA_DIR`, readable by its owner only.
 * An external database may be used by processes on several machines, which must share the key. Not `mayMake`: a key has
 * to be there, because something was encrypted with it.
 */
export async function findSecretsKey(
  config: Pick<Config, 'secretsKey' | 'databaseUrl' | 'dataDir'>,
  { mayMake = true } = {},
): Promise<Buffer> {
  if (config.secretsKey) return config.secretsKey;
  if (config.databaseUrl) {
    throw new StartError(
      'SECRETS_KEY must be set when DATABASE_URL is: 32 bytes in base64, as `openssl rand -base64 32` prints',
    );
  }
  const path = join(config.dataDir, FILE);
  if (!mayMake && !existsSync(path)) throw new StartError(`SECRETS_KEY must be set: there is no ${path}`);
  const fresh = () => `${randomBytes(SECRETS_KEY_BYTES).toString('base64')}\n`;
  const key = parseSecretsKey(keepFile(path, fresh).trim());
  if (!key) throw new StartError(`${path} must hold 32 bytes in base64`);
  return key;
}
