/**
 * Dumps a database and restores it into a fresh one, as operators do.
 *
 * `pg_dump` refuses servers that are newer than itself, and the embedded server comes without one. So the
 * databases live on a server of the machine's own PostgreSQL installation. On a machine without one, they
 * live on the server of the tests, and are copied as templates.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, inject, vi } from 'vitest';
import { findFreePort } from '../../src/run/free-port.ts';
import { databaseUrl } from './database.ts';
import { openScratch, type Scratch } from './scratch.ts';

export interface DumpServer {
  /** How it dumps. */
  readonly means: 'pg_dump' | 'a template';
  /** Create an empty database. Returns its URL. */
  create(name: string): Promise<string>;
  /** Keep the current state of a database, as its superuser or, with `pg_dump`, as another role. */
  dump(name: string, dump: string, role?: string): Promise<void>;
  /** Restore a dump into a database that does not exist yet. Returns its URL. */
  restore(dump: string, name: string): Promise<string>;
  /** The URL of a database. */
  urlOf(name: string): string;
  /** Run commands with its programs, which reach it as `db.internal`. Only with `pg_dump`. */
  run(commands: string): void;
}

const PROGRAMS = ['initdb', 'postgres', 'pg_dump', 'pg_restore'];
const INSTALLATIONS = '/usr/lib/postgresql';

/** Valid from the first `beforeAll` to the end of the file. */
export function useDumpServer(): DumpServer {
  const bin = findPrograms();
  let scratch: Scratch | undefined;
  let server: DumpServer | undefined;
  const made: string[] = [];

  beforeAll(async () => {
    if (!bin) {
      server = copying(inject('adminUrl'), made);
      return;
    }
    scratch = openScratch('boxoffice-dump-');
    server = dumping(bin, scratch.folder, await startServer(bin, scratch.folder));
  });
  afterAll(async () => {
    for (const name of made) await runOn(inject('adminUrl'), `drop database if exists ${name} with (force)`);
    await scratch?.remove();
  });

  const get = () => {
    if (!server) throw new Error('the server is there inside beforeAll and tests only');
    return server;
  };
  return {
    means: bin ? 'pg_dump' : 'a template',
    create: (name) => get().create(name),
    dump: (name, dump, role) => get().dump(name, dump, role),
    restore: (dump, name) => get().restore(dump, name),
    urlOf: (name) => get().urlOf(name),
    run: (commands) => get().run(commands),
  };
}

/** The newest installation that has everything. */
function findPrograms(): string | undefined {
  if (!existsSync(INSTALLATIONS)) return undefined;
  return readdirSync(INSTALLATIONS)
    .sort((one, other) => Number(other) - Number(one))
    .map((version) => join(INSTALLATIONS, version, 'bin'))
    .find((folder) => PROGRAMS.every((program) => existsSync(join(folder, program))));
}

function dumping(bin: string, folder: string, adminUrl: string): DumpServer {
  const run = (program: string, ...args: string[]) =>
    execFileSync(join(bin, program), args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const create = async (name: string) => {
    await runOn(adminUrl, `create database ${name}`);
    return databaseUrl(adminUrl, name);
  };
  return {
    means: 'pg_dump',
    create,
    dump: async (name, dump, role) => {
      const url = new URL(databaseUrl(adminUrl, name));
      if (role !== undefined) url.username = role;
      run('pg_dump', '--format=custom', `--file=${join(folder, dump)}`, url.href);
    },
    restore: async (dump, name) => {
      const url = await create(name);
      run('pg_restore', '--no-owner', '--exit-on-error', `--dbname=${url}`, join(folder, dump));
      return url;
    },
    urlOf: (name) => databaseUrl(adminUrl, name),
    run: (commands) => {
      const { hostname, port } = new URL(adminUrl);
      const env = { PATH: `${bin}:${process.env.PATH}`, PGPORT: port };
      execFileSync('sh', ['-ec', commands.replaceAll('db.internal', hostname)], { cwd: folder, env });
    },
  };
}

/** The names of the databases that it creates go into `made`. */
function copying(adminUrl: string, made: string[]): DumpServer {
  const create = async (name: string, template?: string) => {
    made.push(name);
    await runOn(adminUrl, `create database ${name}${template ? ` template ${template}` : ''}`);
    return databaseUrl(adminUrl, name);
  };
  return {
    means: 'a template',
    create: (name) => create(name),
    dump: async (name, dump) => {
      // A template must have no other connection.
      await runOn(adminUrl, `alter database ${name} with allow_connections false`);
      await runOn(
        adminUrl,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
      );
      await create(dump, name);
      await runOn(adminUrl, `alter database ${name} with allow_connections true`);
    },
    restore: (dump, name) => create(name, dump),
    urlOf: (name) => databaseUrl(inject('adminUrl'), name),
    run: () => {
      throw new Error('this server came without its programs');
    },
  };
}

async function startServer(bin: string, folder: string): Promise<string> {
  const account = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : undefined;
  const data = join(folder, 'data');
  chmodSync(folder, 0o711);
  mkdirSync(data);
  if (account) chownSync(data, account.uid, account.gid);
  const options = { ...account, cwd: data, env: { PATH: process.env.PATH } };
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C'],
    { ...options, stdio: 'ignore' },
  );
  const port = await findFreePort('127.0.0.1');
  const flags = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'fsync=off'];
  const child = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...flags], {
    ...options,
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  // The folder's watcher kills it; its end must not end the tests.
  ended.catch(() => undefined);
  child.unref();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await vi.waitFor(() => runOn(url, 'select 1'), { timeout: 60_000 });
  return url;
}

function idOf(flag: string): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
}

async function runOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
