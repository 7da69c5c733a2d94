import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import pg from 'pg';
import { afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import {
  findPostmaster,
  findSocketFolder,
  openCluster,
  startPostmaster,
  stopPostmaster,
} from '../../../src/run/embedded-postgres/cluster.ts';
import {
  attachEmbedded,
  type Embedded,
  startEmbedded,
} from '../../../src/run/embedded-postgres/embedded-postgres.ts';
import { findFreePort } from '../../../src/run/free-port.ts';

const log = { info: () => undefined, warn: () => undefined };
const dataDirs: string[] = [];
const template = join(inject('scratch'), 'embedded-template');

// Creating a cluster takes longer than most tests here, and few are about it.
beforeAll(async () => {
  await openCluster(template, false, log);
});

afterEach(() => {
  for (const dataDir of dataDirs.splice(0)) {
    const pid = postmasterPid(dataDir);
    if (pid !== undefined) process.kill(pid, 'SIGQUIT');
    // A server that is still stopping may write into the folder while it is removed.
    fs.rmSync(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
});

function newDataDir(): string {
  const dataDir = fs.realpathSync(fs.mkdtempSync(join(inject('scratch'), 'embedded-')));
  dataDirs.push(dataDir);
  return dataDir;
}

/** With a cluster that has never run. */
function newClusterDir(): string {
  const dataDir = newDataDir();
  // As root the cluster belongs to another account, and a plain copy would change that.
  execFileSync('cp', ['-a', `${template}/.`, dataDir]);
  return dataDir;
}

function start(dataDir: string): Promise<Embedded> {
  return startEmbedded({ dataDir, log, durable: false });
}

function attach(dataDir: string): Promise<Embedded> {
  return attachEmbedded({ dataDir, log, durable: false });
}

function pidFile(dataDir: string): string {
  return join(dataDir, 'postgres', 'postmaster.pid');
}

function postmasterPid(dataDir: string): number | undefined {
  return fs.existsSync(pidFile(dataDir))
    ? Number(fs.readFileSync(pidFile(dataDir), 'utf8').split('\n')[0])
    : undefined;
}

async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<Row>(sql).finally(() => client.end());
  return rows;
}

/** A service in a process of its own that starts, writes one row and is killed. */
async function runAndKillService(dataDir: string): Promise<void> {
  const module = new URL('../../../src/run/embedded-postgres/embedded-postgres.ts', import.meta.url).href;
  const script = `
    import pg from 'pg';
    const { startEmbedded } = await import(${JSON.stringify(module)});
    const log = { info() {}, warn() {} };
    const { url } = await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, log, durable: false });
    const client = new pg.Client(url);
    await client.connect();
    await client.query('create table notes as select 42 as answer');
    process.kill(process.pid, 'SIGKILL');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
}

describe('startEmbedded', () => {
  it('opens a database whose owner is not a superuser, on loopback only', async () => {
    const dataDir = newClusterDir();
    const embedded = await start(dataDir);
    const [, , , port, socketDir, addresses] = fs.readFileSync(pidFile(dataDir), 'utf8').split('\n');
    const rows = await query(
      embedded.url,
      `select current_database() as database, rolsuper, current_setting('server_encoding') as encoding
       from pg_roles where rolname = current_user`,
    );
    await embedded.stop();

    expect(embedded.adopted).toBe(false);
    expect(rows).toEqual([{ database: 'boxoffice', rolsuper: false, encoding: 'UTF8' }]);
    expect({ socketDir, addresses }).toEqual({ socketDir: '.', addresses: '127.0.0.1' });
    expect(new URL(embedded.url).host).toBe(`127.0.0.1:${port}`);
  });

  it('is reached by a Unix socket in its folder, which others cannot open, and by TCP', async () => {
    const dataDir = newClusterDir();
    const embedded = await start(dataDir);
    const addressOf = (url: string) => query(url, 'select host(inet_server_addr()) as address');
    const overTcp = new URL(embedded.url);
    expect(overTcp.searchParams.get('host')).toBe(join(dataDir, 'postgres'));
    overTcp.search = '';

    expect(await addressOf(embedded.url)).toEqual([{ address: null }]);
    expect(await addressOf(embedded.applicationUrl)).toEqual([{ address: null }]);
    expect(await addressOf(overTcp.href)).toEqual([{ address: '127.0.0.1' }]);
    const { mode } = fs.statSync(join(dataDir, 'postgres', `.s.PGSQL.${overTcp.port}`));
    expect(mode & 0o777).toBe(0o700);
    await embedded.stop();
  });

  it('is reached by TCP if the path of a socket would be too long', async () => {
    const dataDir = join(newDataDir(), 'a'.repeat(100));
    execFileSync('cp', ['-a', template, dataDir]);
    const embedded = await start(dataDir);
    expect(new URL(embedded.url).search).toBe('');
    expect(await query(embedded.url, 'select host(inet_server_addr()) as address')).toEqual([
      { address: '127.0.0.1' },
    ]);
    await embedded.stop();
  });

  it('is reached by TCP where there are no Unix sockets', async () => {
    const cluster = await openCluster(newClusterDir(), false, log);
    const postmaster = await startPostmaster(cluster, { mayHaveSocket: false });
    expect(findSocketFolder(cluster, postmaster!)).toBeUndefined();

    const embedded = await start(cluster.dataDir);
    expect(embedded.adopted).toBe(true);
    expect(await query(embedded.url, 'select host(inet_server_addr()) as address')).toEqual([
      { address: '127.0.0.1' },
    ]);
    await embedded.stop();
  });

  it('is reached by TCP if the file system refuses to make a socket', async () => {
    const cluster = await openCluster(newClusterDir(), false, log);
    const port = await findFreePort('127.0.0.1');
    // A folder of this name, which PostgreSQL cannot replace by a socket.
    fs.mkdirSync(join(cluster.dir, `.s.PGSQL.${port}`, 'sub'), { recursive: true });
    const postmaster = await startPostmaster(cluster, { port });
    expect(postmaster).toMatchObject({ port });
    await stopPostmaster(cluster, postmaster!);
    fs.rmSync(join(cluster.dir, `.s.PGSQL.${port}`), { recursive: true });
  });

  it('removes the sockets of servers that were killed', async () => {
    const dataDir = newClusterDir();
    await runAndKillService(dataDir);
    process.kill(postmasterPid(dataDir)!, 'SIGKILL');
    const sockets = () =>
      fs.readdirSync(join(dataDir, 'postgres')).filter((name) => name.startsWith('.s.PGSQL.'));
    expect(sockets()).toHaveLength(2);
    const embedded = await start(dataDir);
    expect(sockets().sort()).toEqual(
      ['', '.lock'].map((end) => `.s.PGSQL.${new URL(embedded.url).port}${end}`),
    );
    await embedded.stop();
    expect(sockets()).toEqual([]);
  });

  it('has a role for the service that owns nothing, also in a cluster of before there was one', async () => {
    const dataDir = newClusterDir();
    const roleOf = (url: string) =>
      query(
        url,
        `select r.rolname as name, r.rolsuper or r.rolcreatedb or r.rolcreaterole or r.rolbypassrls as powerful,
                pg_get_userbyid(d.datdba) as owner, pg_has_role('boxoffice', 'member') as "isMember"
           from pg_roles r, pg_database d where r.rolname = current_user and d.datname = current_database()`,
      );
    const restricted = [{ name: 'boxoffice_app', powerful: false, owner: 'boxoffice', isMember: false }];
    const first = await start(dataDir);
    expect(await roleOf(first.applicationUrl)).toEqual(restricted);
    const superuser = first.url.replace('//boxoffice:', '//postgres:');
    await query(superuser, 'drop role boxoffice_app');
    await first.stop();

    const second = await start(dataDir);
    expect(await roleOf(second.applicationUrl)).toEqual(restricted);
    await second.stop();
  });

  it('tells when the server is launched, and when it was found', async () => {
    const options = { dataDir: newClusterDir(), log, durable: false, whenLaunched: vi.fn() };
    const starting = startEmbedded(options);
    await vi.waitFor(() => expect(options.whenLaunched).toHaveBeenCalledOnce());
    // It has still to write its pid, recover and listen.
    expect(await Promise.race([starting, 'starting'])).toBe('starting');
    const service = await starting;

    const visitor = await attachEmbedded(options);
    expect(visitor.adopted).toBe(true);
    expect(options.whenLaunched).toHaveBeenCalledTimes(2);
    await Promise.all([visitor.stop(), service.stop()]);
  });

  it('is durable by default', async () => {
    const embedded = await startEmbedded({ dataDir: newDataDir(), log });
    const settings = await query(
      embedded.url,
      `select name, setting from pg_settings
       where name in ('fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums') order by name`,
    );
    await embedded.stop();

    expect(settings).toHaveLength(4);
    expect(settings.every(({ setting }) => setting === 'on')).toBe(true);
  });

  it('keeps what was written, and leaves no server behind', async () => {
    const dataDir = newClusterDir();
    const first = await start(dataDir);
    await query(first.url, 'create table notes as select 42 as answer');
    await first.stop();
    expect(postmasterPid(dataDir)).toBeUndefined();

    const second = await start(dataDir);
    expect(await query(second.url, 'table notes')).toEqual([{ answer: 42 }]);
    await second.stop();
  });

  it('restricts its folder and its password to its user, and the password out of the log', async () => {
    const dataDir = join(newDataDir(), 'data');
    const messages: string[] = [];
    const noted = {
      info: (message: string) => messages.push(message),
      warn: (message: string) => messages.push(message),
    };
    const embedded = await startEmbedded({ dataDir, log: noted, durable: false });
    await embedded.stop();

    const password = new URL(embedded.url).password;
    expect(password).toHaveLength(43);
    expect(fs.statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(fs.statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700);
    expect(fs.statSync(join(dataDir, 'postgres.password')).mode & 0o777).toBe(0o600);
    expect(`${messages}${fs.readFileSync(join(dataDir, 'postgres.log'), 'utf8')}`).not.toContain(password);
    expect(fs.readdirSync(dataDir).sort()).toEqual(['postgres', 'postgres.log', 'postgres.password']);
  });

  it('takes a relative path, and refuses a folder that holds something else', async () => {
    const dataDir = newDataDir();
    const embedded = await start(relative(process.cwd(), dataDir));
    await embedded.stop();
    expect(fs.existsSync(join(dataDir, 'postgres', 'PG_VERSION'))).toBe(true);

    fs.rmSync(join(dataDir, 'postgres', 'PG_VERSION'));
    await expect(start(dataDir)).rejects.toThrow(
      `${dataDir}/postgres holds something that is no PostgreSQL cluster`,
    );
  });

  it('refuses a second service, names it, and leaves the first one running', async () => {
    const dataDir = newClusterDir();
    const first = await start(dataDir);

    await expect(start(dataDir)).rejects.toMatchObject({
      name: 'DataDirInUse',
      code: 'DATA_DIR_IN_USE',
      message: `DATA_DIR ${dataDir} is in use by another service (pid ${process.pid})`,
    });
    expect(await query(first.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await first.stop();
  });

  it('lets exactly one of several concurrent starts on an empty folder win', async () => {
    const dataDir = newDataDir();
    const outcomes = await Promise.allSettled([start(dataDir), start(dataDir), start(dataDir)]);
    const winners = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    const losers = outcomes.filter((outcome) => outcome.status === 'rejected');

    expect(winners).toHaveLength(1);
    for (const { reason } of losers) expect(reason).toMatchObject({ code: 'DATA_DIR_IN_USE' });
    expect(await query(winners[0]!.value.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await winners[0]!.value.stop();
    expect(postmasterPid(dataDir)).toBeUndefined();
    expect(fs.readdirSync(dataDir).sort()).toEqual(['postgres', 'postgres.log', 'postgres.password']);
  });

  it('starts while the previous service is still stopping', async () => {
    const dataDir = newClusterDir();
    const first = await start(dataDir);
    const [, second] = await Promise.all([first.stop(), start(dataDir)]);

    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await second.stop();
    expect(postmasterPid(dataDir)).toBeUndefined();
  });
});

describe('after a crash', () => {
  it('takes over the server of a killed service', async () => {
    const dataDir = newClusterDir();
    await runAndKillService(dataDir);
    const pid = postmasterPid(dataDir);

    const embedded = await start(dataDir);
    expect(embedded.adopted).toBe(true);
    expect(postmasterPid(dataDir)).toBe(pid);
    expect(await query(embedded.url, 'table notes')).toEqual([{ answer: 42 }]);
    await embedded.stop();
    expect(postmasterPid(dataDir)).toBeUndefined();
  });

  it('starts a killed server again', async () => {
    const dataDir = newClusterDir();
    await runAndKillService(dataDir);
    process.kill(postmasterPid(dataDir)!, 'SIGKILL');

    const embedded = await start(dataDir);
    expect(embedded.adopted).toBe(false);
    expect(await query(embedded.url, 'table notes')).toEqual([{ answer: 42 }]);
    await embedded.stop();
  });

  it('ignores a lock file whose pid now belongs to another process', async () => {
    const dataDir = newClusterDir();
    const first = await start(dataDir);
    const lockFile = fs.readFileSync(pidFile(dataDir), 'utf8');
    await first.stop();
    fs.writeFileSync(pidFile(dataDir), lockFile.replace(/^\d+/, String(process.pid)));

    const second = await start(dataDir);
    expect(second.adopted).toBe(false);
    await second.stop();
  });

  it('gives a copied folder a server of its own', async () => {
    const [dataDir, copy] = [newClusterDir(), newDataDir()];
    const original = await start(dataDir);
    const copying = spawn('cp', ['-a', `${dataDir}/.`, copy], { stdio: 'ignore' });
    expect(await once(copying, 'exit')).toEqual([0, null]);

    const second = await start(copy);
    expect(second.adopted).toBe(false);
    expect(new URL(second.url).port).not.toBe(new URL(original.url).port);
    await second.stop();
    expect(await query(original.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await original.stop();
  });

  it('brings the server back at the same address while the service runs', async () => {
    const dataDir = newClusterDir();
    const embedded = await start(dataDir);
    const pid = postmasterPid(dataDir)!;
    process.kill(pid, 'SIGKILL');

    const locks = `select from pg_locks where locktype = 'advisory' and granted`;
    await vi.waitFor(async () => expect(await query(embedded.url, locks)).toHaveLength(2), {
      timeout: 60_000,
      interval: 100,
    });
    expect(postmasterPid(dataDir)).not.toBe(pid);
    await expect(start(dataDir)).rejects.toMatchObject({ code: 'DATA_DIR_IN_USE' });
    await embedded.stop();
    expect(postmasterPid(dataDir)).toBeUndefined();
  });

  it('replaces a server that does not answer', async () => {
    const dataDir = newClusterDir();
    await runAndKillService(dataDir);
    process.kill(postmasterPid(dataDir)!, 'SIGSTOP');

    const embedded = await start(dataDir);
    expect(embedded.adopted).toBe(false);
    expect(await query(embedded.url, 'table notes')).toEqual([{ answer: 42 }]);
    await embedded.stop();
  });
});

describe('attachEmbedded', () => {
  it('uses the server of a running service and leaves it running', async () => {
    const dataDir = newClusterDir();
    const service = await start(dataDir);
    const visit = await attach(dataDir);
    expect(visit.url).toBe(service.url);
    await visit.stop();

    expect(await query(service.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await service.stop();
  });

  it('starts the server temporarily when no service runs', async () => {
    const dataDir = newClusterDir();
    const visit = await attach(dataDir);
    expect(await query(visit.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await visit.stop();
    expect(postmasterPid(dataDir)).toBeUndefined();
  });

  it('leaves the server to later users: the last one stops it', async () => {
    const dataDir = newClusterDir();
    const visit = await attach(dataDir);
    const service = await start(dataDir);
    await visit.stop();
    expect(await query(service.url, 'select 1 as one')).toEqual([{ one: 1 }]);

    const late = await attach(dataDir);
    await service.stop();
    expect(await query(late.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await late.stop();
    expect(postmasterPid(dataDir)).toBeUndefined();
  });
});

describe('startPostmaster', () => {
  it('says why it did not start, and that the port it was given is taken', async () => {
    const squatter = createServer().listen(0, '127.0.0.1');
    await once(squatter, 'listening');
    const { port } = squatter.address() as { port: number };
    const cluster = await openCluster(newClusterDir(), false, log);

    await expect(startPostmaster(cluster, { port })).rejects.toThrow(
      'The embedded PostgreSQL did not start: FATAL:  could not create any TCP/IP sockets',
    );
    expect(findPostmaster(cluster)).toBeUndefined();
    squatter.close();
  });
});
