/** The device's key in the browser's IndexedDB, one for each origin. */
import type { KeyStore } from './device-key.ts';

const DATABASE = 'boxoffice';
const STORE = 'keys';
const KEY = 'device';

export const indexedDbKeyStore: KeyStore = {
  async keep(candidate) {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    const database = await settled(opening);
    try {
      // One transaction: two tabs that start at once then use the same key.
      const store = database.transaction(STORE, 'readwrite').objectStore(STORE);
      const kept: CryptoKeyPair | undefined = await settled(store.get(KEY));
      if (kept) return kept;
      await settled(store.put(candidate, KEY));
      return candidate;
    } finally {
      database.close();
    }
  },
};

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
