/** Where the key that encrypts secrets at rest comes from: the environment, or a file beside the embedded database. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Config, parseSecretsKey } from '../config.ts';
import { randomHex } from '../lib/ids.ts';
import { SECRETS_KEY_BYTES } from '../lib/secret-box.ts';
import { StartError } from '../lib/start-error.ts';

const FILE = 'secrets.key';

/**
 * With the embedded database a key is made once and kept in `DATA_DIR`, readable by its owner only.
 * A database of one's own is used by several processes on several machines, which must agree.
 */
export async function findSecretsKey(
  config: Pick<Config, 'secretsKey' | 'databaseUrl' | 'dataDir'>,
): Promise<Buffer> {
  if (config.secretsKey) return config.secretsKey;
  if (config.databaseUrl) {
    throw new StartError(
      'SECRETS_KEY must be set when DATABASE_URL is: 32 bytes in base64, as `openssl rand -base64 32` prints',
    );
  }
  const path = join(config.dataDir, FILE);
  const key = parseSecretsKey((await keep(path)).trim());
  if (!key) throw new StartError(`${path} must hold 32 bytes in base64`);
  return key;
}

/** The first of several starters decides on the key: `link` never replaces a file, nor shows half of one. */
async function keep(path: string): Promise<string> {
  if (!existsSync(path)) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const draft = `${path}.${randomHex(8)}`;
    const fresh = randomBytes(SECRETS_KEY_BYTES).toString('base64');
    await writeFile(draft, `${fresh}\n`, { mode: 0o600, flush: true });
    try {
      await link(draft, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      await rm(draft);
    }
  }
  return readFile(path, 'utf8');
}
