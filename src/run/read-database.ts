/** The database: its addresses, and how many connections it may have. */
import { ConfigError, type Env } from './config-error.ts';
import { budgetConnections, type ConnectionBudget } from './connection-budget.ts';
import { readChoice, readInteger } from './read-values.ts';

/** `undefined`: the embedded PostgreSQL, which production has to ask for. */
export function readServiceDatabaseUrl(env: Env, production: boolean): string | undefined {
  const url = readDatabaseUrl(env, 'DATABASE_URL');
  const fallback = url || production ? 'false' : 'true';
  const embedded = readChoice(env, 'EMBEDDED_DATABASE', ['true', 'false'], fallback) === 'true';
  if (embedded && url) throw new ConfigError('EMBEDDED_DATABASE may not be true when DATABASE_URL is set');
  if (url || embedded) return url;
  const when = env.EMBEDDED_DATABASE ? 'EMBEDDED_DATABASE is false' : 'NODE_ENV is production';
  throw new ConfigError(
    `DATABASE_URL must be set when ${when}; EMBEDDED_DATABASE=true asks for the embedded one`,
  );
}

/** Another way to the database of DATABASE_URL. */
export function readFurtherDatabaseUrl(env: Env, name: string): string | undefined {
  const url = readDatabaseUrl(env, name);
  if (url && !env.DATABASE_URL) throw new ConfigError(`DATABASE_URL must be set when ${name} is`);
  return url;
}

function readDatabaseUrl(env: Env, name: string): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  const url = URL.parse(text);
  // The value may hold a password, so it is not repeated.
  // Several hosts with ports are no URL.
  if (/^postgres(ql)?:\/\/([^/?]*@)?[^/?@]*,[^/?@]*([/?]|$)/.test(text)) {
    throw new ConfigError(`${name} must name one host: set it to a proxy that knows the primary`);
  }
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new ConfigError(`${name} must be a postgres:// address`);
  }
  return text;
}

export function readConnectionBudget(env: Env, workers: number): ConnectionBudget {
  const name = 'DATABASE_CONNECTIONS_MAX';
  return budgetConnections(workers, env[name] ? readInteger(env, name, 0, 1, 100_000) : undefined);
}
