/** `better-auth` with its API key plugin, on a pool of the benchmark. */
import { apiKey } from '@better-auth/api-key';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';

/**
 * Keys are stored hashed in the database, the plugin's default. Its own migrations create its tables
 * and indexes. If the rate limit is on, it is too high to refuse any request.
 *
 * @param {import('pg').Pool} pool
 * @param {{ rateLimit: boolean }} options
 */
export async function openBetterAuth(pool, { rateLimit }) {
  const options = {
    baseURL: 'http://127.0.0.1',
    secret: 'only benchmarks use this secret of forty letters',
    database: pool,
    telemetry: { enabled: false },
    logger: { level: 'error' },
    plugins: [apiKey({ rateLimit: rateLimit ? { enabled: true, maxRequests: 1e9 } : { enabled: false } })],
  };
  const { runMigrations } = await getMigrations(options);
  await runMigrations();
  const auth = betterAuth(options);
  return {
    /** Plaintext of a new key of a new user. */
    async makeKey() {
      const { internalAdapter } = await auth.$context;
      const user = await internalAdapter.createUser({
        name: 'bench',
        email: `${crypto.randomUUID()}@example.com`,
      });
      const { key } = await auth.api.createApiKey({ body: { userId: user.id, name: 'bench' } });
      return key;
    },
    /** @param {string} key */
    async verify(key) {
      const { valid } = await auth.api.verifyApiKey({ body: { key } });
      return valid;
    },
  };
}
