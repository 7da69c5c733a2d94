/** `better-auth` with its API key plugin, on a pool of ours. */
import { apiKey } from '@better-auth/api-key';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';

/**
 * Keys are kept in the database and hashed, as the plugin has it. Its tables and indexes are made by
 * its own migrations. Where the rate limit is on, it is so high that it refuses nothing.
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
    /** A new key of a new user, in plain text. */
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
