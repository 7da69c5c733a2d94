/** The device's key in a file that its owner alone can read. */
import { readFile, writeFile } from 'node:fs/promises';
import type { KeyStore } from '../device/index.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' };

/** Makes a key for a new file. The key of `candidate` cannot be exported, so it is not used. */
export function keyFile(path: string): KeyStore {
  return {
    async keep() {
      const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        return undefined;
      });
      if (kept !== undefined) return await importPair(JSON.parse(kept));
      const made = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
      const jwk = await crypto.subtle.exportKey('jwk', made.privateKey);
      await writeFile(path, `${JSON.stringify(jwk)}\n`, { mode: 0o600, flag: 'wx' });
      return await importPair(jwk);
    },
  };
}

async function importPair(jwk: JsonWebKey): Promise<CryptoKeyPair> {
  const { d: _private, key_ops: _uses, ...publicHalf } = jwk;
  return {
    privateKey: await crypto.subtle.importKey('jwk', jwk, ALGORITHM, false, ['sign']),
    publicKey: await crypto.subtle.importKey('jwk', publicHalf, ALGORITHM, true, ['verify']),
  };
}
