/**
 * Writes the files of all machines from the settings of the cluster.
 *
 * `node deploy/ha/render.ts <settings> <folder>`: `ha.env` is an example of the settings. Files of one machine have its
 * name: `patroni-one.yml`. Templates hold `${SETTING}`; what a machine or a list needs beside the settings is made here.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

type Values = Readonly<Record<string, string>>;

interface Machine {
  readonly name: string;
  readonly address: string;
  readonly ports: readonly [string, string];
}

const MACHINE = /^([a-z0-9-]+)=([^:=]+):(\d+):(\d+)$/;

/** Exits with one line about the first thing that is wrong. */
function main([settingsFile, folder]: readonly string[]): void {
  try {
    if (!settingsFile || !folder) throw new Error('usage: node deploy/ha/render.ts <settings> <folder>');
    render(parseEnv(readFileSync(settingsFile, 'utf8')) as Values, folder);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}

function render(settings: Values, folder: string): void {
  const databases = readMachines(settings, 'DATABASES');
  const etcd = readMachines(settings, 'ETCD');
  const values = {
    ...settings,
    ETCD_CLIENTS: etcd.map(({ address, ports: [client] }) => `${address}:${client}`).join(','),
    ETCD_PEERS: etcd
      .map(({ name, address, ports: [, peer] }) => `${name}=http://${address}:${peer}`)
      .join(','),
    DATABASE_SERVERS: databases
      .map(
        ({ name, address, ports: [port, patroni] }) =>
          `    server ${name} ${address}:${port} check port ${patroni}`,
      )
      .join('\n'),
  };
  const files: [path: string, text: string][] = [
    'haproxy.cfg',
    'pgbouncer.ini',
    'userlist.txt',
    'create-database.sql',
    'take-over.sql',
  ].map((file) => [file, fill(file, values)]);
  for (const {
    name: NAME,
    address: ADDRESS,
    ports: [POSTGRES_PORT, PATRONI_PORT],
  } of databases) {
    files.push([
      `patroni-${NAME}.yml`,
      fill('patroni.yml', { ...values, NAME, ADDRESS, POSTGRES_PORT, PATRONI_PORT }),
    ]);
  }
  for (const {
    name: NAME,
    address: ADDRESS,
    ports: [CLIENT_PORT, PEER_PORT],
  } of etcd) {
    files.push([`etcd-${NAME}.yml`, fill('etcd.yml', { ...values, NAME, ADDRESS, CLIENT_PORT, PEER_PORT })]);
  }
  mkdirSync(folder, { recursive: true });
  // They hold passwords.
  for (const [path, text] of files) writeFileSync(join(folder, path), text, { mode: 0o600 });
}

function readMachines(settings: Values, list: string): Machine[] {
  return (settings[list] ?? '').split(/\s+/).map((text) => {
    const [, name, address, first, second] = MACHINE.exec(text) ?? [];
    if (!name)
      throw new Error(`${list} must be a list of name=address:port:port, not ${JSON.stringify(text)}`);
    return { name, address: address!, ports: [first!, second!] };
  });
}

/** Passwords stand between quotes of three languages, so they are letters, digits, `-` and `_`. */
function fill(template: string, values: Values): string {
  return readFileSync(join(import.meta.dirname, template), 'utf8').replaceAll(
    /\$\{(\w+)\}/g,
    (_, name: string) => {
      const value = values[name];
      if (!value) throw new Error(`${name} must be set`);
      if (name.endsWith('_PASSWORD') && !/^[\w-]{16,}$/.test(value)) {
        throw new Error(`${name} must be 16 or more letters, digits, - and _`);
      }
      return value;
    },
  );
}

main(process.argv.slice(2));
