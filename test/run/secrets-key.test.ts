import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findSecretsKey } from '../../src/run/secrets-key.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-secrets-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const embedded = (dataDir: string) => ({ secretsKey: undefined, databaseUrl: undefined, dataDir });

describe('findSecretsKey', () => {
  test('comes from the environment if set', async () => {
    const secretsKey = Buffer.alloc(32, 7);
    const config = { secretsKey, databaseUrl: 'postgres://x/y', dataDir: '/nonexistent' };
    expect(await findSecretsKey(config)).toBe(secretsKey);
  });

  test('must be set for an external database', async () => {
    const config = { secretsKey: undefined, databaseUrl: 'postgres://x/y', dataDir: folder };
    await expect(findSecretsKey(config)).rejects.toThrow(
      /^SECRETS_KEY must be set when DATABASE_URL is: 32 bytes/,
    );
  });

  test('is created once next to the embedded database, readable by its owner only, and kept', async () => {
    const dataDir = join(folder, 'fresh');
    const key = await findSecretsKey(embedded(dataDir));
    expect(key).toHaveLength(32);
    expect(await findSecretsKey(embedded(dataDir))).toStrictEqual(key);
    const path = join(dataDir, 'secrets.key');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, 'utf8')).toBe(`${key.toString('base64')}\n`);
  });

  test('is the same for several concurrent starts', async () => {
    const dataDir = join(folder, 'race');
    const keys = await Promise.all(Array.from({ length: 10 }, () => findSecretsKey(embedded(dataDir))));
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
  });

  test('is not made for a drill, whose backup has another', async () => {
    const dataDir = join(folder, 'drill');
    await expect(findSecretsKey(embedded(dataDir), { mayMake: false })).rejects.toThrow(
      `SECRETS_KEY must be set: there is no ${join(dataDir, 'secrets.key')}`,
    );
    const key = await findSecretsKey(embedded(dataDir));
    expect(await findSecretsKey(embedded(dataDir), { mayMake: false })).toStrictEqual(key);
  });

  test('names the file that it cannot read', async () => {
    const path = join(folder, 'secrets.key');
    await writeFile(path, 'hello\n');
    await expect(findSecretsKey(embedded(folder))).rejects.toThrow(`${path} must hold 32 bytes in base64`);
  });
});
