/** One PostgreSQL of a cluster: it is started, killed and started again on the same port. */
import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { type Processes, postgresOf, signal, waitFor } from './processes.ts';

const HOST = '127.0.0.1';
const OWNER = 'postgres';
export const DATABASE = 'boxoffice';

export class PostgresServer {
  readonly name: string;
  readonly port: number;
  readonly folder: string;
  readonly #processes: Processes;

  /** `folder`: of its files, which `create()` or a backup puts there. */
  constructor(name: string, port: number, folder: string, processes: Processes) {
    this.name = name;
    this.port = port;
    this.folder = folder;
    this.#processes = processes;
  }

  /** Opens the database of the service, as the owner by default. */
  url(role: string = OWNER): string {
    return `postgres://${role}@${HOST}:${this.port}/${DATABASE}`;
  }

  /** Make an empty server. `settings`: lines of postgresql.conf. */
  async create(settings: string): Promise<void> {
    const { folder } = this;
    await this.#processes.run([
      'initdb',
      `--pgdata=${folder}`,
      `--username=${OWNER}`,
      '--auth=trust',
      '--encoding=UTF8',
      '-N',
    ]);
    await this.#processes.run(['mkdir', this.#archive]);
    this.configure(settings);
  }

  get #archive(): string {
    return `${this.folder}-archive`;
  }

  get #backup(): string {
    return `${this.folder}-backup`;
  }

  /** Its next start reads them. */
  configure(settings: string): void {
    appendFileSync(join(this.folder, 'postgresql.conf'), `${settings}\nport = ${this.port}\n`);
  }

  /** Copy its files while it runs, and keep the WAL from then on. */
  async backUp(): Promise<void> {
    await this.query(`alter system set archive_command = 'cp %p ${this.#archive}/%f'`);
    await this.query('select pg_reload_conf()');
    await this.#processes.run([
      'pg_basebackup',
      '-h',
      HOST,
      '-p',
      `${this.port}`,
      '-U',
      OWNER,
      '-D',
      this.#backup,
      '-c',
      'fast',
    ]);
  }

  /** Resolves when the archive has all that was written so far. */
  async archive(): Promise<void> {
    const [{ file }] = (await this.query<{ file: string }>(
      'select pg_walfile_name(pg_switch_wal()) as file',
    )) as [{ file: string }];
    await waitFor('archived WAL', () =>
      this.query('select from pg_stat_archiver where last_archived_wal >= $1', DATABASE, [file]).then(
        ({ length }) => length > 0,
      ),
    );
  }

  /** Put the backup and the archived WAL up to a restore point in the place of its files, and start it. */
  async restore(point: string): Promise<void> {
    rmSync(this.folder, { recursive: true });
    await this.#processes.run(['mv', this.#backup, this.folder]);
    this.configure(
      `recovery_target_name = '${point}'\nrecovery_target_action = promote\nrestore_command = 'cp ${this.#archive}/%f %p'`,
    );
    writeFileSync(join(this.folder, 'recovery.signal'), '');
    await this.start();
    await waitFor('end of the recovery', () =>
      this.query('select where not pg_is_in_recovery()').then(({ length }) => length > 0),
    );
  }

  /** Resolves when it takes statements. */
  async start(): Promise<void> {
    this.#processes.start(this.name, ['postgres', '-D', this.folder]);
    await waitFor(this.name, () => this.query('select 1', 'postgres').catch(() => undefined));
  }

  /** The postmaster and its processes. */
  processes(): number[] {
    return postgresOf(this.folder);
  }

  /** All its processes die at once. Resolves when they are gone. */
  async kill(): Promise<void> {
    const pids = this.processes();
    signal(pids, 'SIGKILL');
    await waitFor('end', async () => pids.every((pid) => !existsSync(`/proc/${pid}`)));
  }

  /** It ends in order, and its standbys have all of it. */
  async stop(): Promise<void> {
    const pids = this.processes();
    signal(pids.slice(0, 1), 'SIGINT');
    await waitFor('end', async () => pids.every((pid) => !existsSync(`/proc/${pid}`)));
  }

  /** As the owner, on a connection of its own. */
  async query<T extends pg.QueryResultRow>(
    statement: string,
    database: string = DATABASE,
    values: readonly unknown[] = [],
  ): Promise<T[]> {
    const client = new pg.Client({ host: HOST, port: this.port, user: OWNER, database });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<T>(statement, [...values])).rows;
    } finally {
      await client.end().catch(() => {});
    }
  }
}
