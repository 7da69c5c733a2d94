/** The files and settings that the pages show, as the programs read them that they are for. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import { EVENT_TYPES } from '../../src/money/provider-events/handle-event.ts';
import { readConfig } from '../../src/run/config.ts';
import { blocksOf, readBlocks, readPage } from './blocks.ts';

const BLOCKS = blocksOf('configuration');
const textsOf = (language: string) =>
  BLOCKS.filter((block) => block.language === language).map(({ text }) => text);
const [unit, environment] = textsOf('ini');
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
const run = promisify(execFile);

test('each file has a program that reads it', () => {
  expect(BLOCKS.filter(({ notes }) => notes.settings === undefined).map(({ language }) => language)).toEqual([
    'ini',
    'ini',
    'nginx',
    'nginx',
  ]);
  expect([unit, environment].map((text) => text!.split('\n')[0])).toEqual([
    '# /etc/systemd/system/boxoffice.service',
    '# /etc/boxoffice.env, readable by root alone.',
  ]);
});

test('systemd reads each value of the environment file as it is meant', () => {
  const lines = environment!.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(lines.length).toBeGreaterThan(5);
  const settings = new Set(
    [...readPage('docs/reference.md').matchAll(/^\| `([A-Z_]+)`(?:, `([A-Z_]+)`)*/gm)].flat(),
  );
  for (const line of lines) {
    // systemd takes everything after the first = as the value, a # included.
    const [, name, value] = /^([A-Z_]+)=(\S+)$/.exec(line) ?? [];
    expect([line, settings.has(name!), value?.includes('#')]).toStrictEqual([line, true, false]);
  }
});

test('both are the files of deploy/systemd', () => {
  const files = ['boxoffice.service', 'boxoffice.env'].map((name) => readPage(`deploy/systemd/${name}`));
  expect(files).toEqual([unit, environment]);
});

test.skipIf(!hasSystemd)('systemd takes the unit', async () => {
  const file = join(mkdtempSync(join(inject('scratch'), 'unit-')), 'boxoffice.service');
  // It looks for the program.
  writeFileSync(file, unit!.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
  const { stdout, stderr } = await run('systemd-analyze', ['verify', file]);
  expect(stdout + stderr).toBe('');
});

test.skipIf(!hasSystemd)('systemd rates the unit as the document says', async () => {
  const file = join(mkdtempSync(join(inject('scratch'), 'unit-')), 'boxoffice.service');
  writeFileSync(file, unit!);
  const options = ['security', '--offline=true', '--no-pager', file];
  const { stdout } = await run('systemd-analyze', options);
  const [, rating] = /exposure level for boxoffice\.service: ([\d.]+)/.exec(stdout) ?? [];
  const [, documented] = /rates it ([\d.]+)/.exec(readPage('docs/operations.md')) ?? [];
  // Versions of systemd differ in what they weigh.
  expect(Math.abs(Number(rating) - Number(documented))).toBeLessThan(0.3);
});

/** `1.27.5`; undefined without nginx. */
const nginxVersion = /nginx\/([\d.]+)/.exec(
  spawnSync('nginx', ['-v'], { encoding: 'utf8' }).stderr ?? '',
)?.[1];

test.skipIf(nginxVersion === undefined)('nginx takes both servers', async () => {
  const folder = mkdtempSync(join(inject('scratch'), 'nginx-'));
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=example.com';
  await run('openssl', [...request.split(' '), '-keyout', key, '-out', certificate]);
  const servers = textsOf('nginx')
    .join('\n')
    .replaceAll(/\/etc\/ssl\/\w+\.pem/g, certificate)
    .replaceAll(/\/etc\/ssl\/\w+\.key/g, key)
    // A test of a configuration opens its sockets.
    .replaceAll('listen 443', `listen unix:${folder}/socket`);
  const [, minor, patch] = nginxVersion!.split('.').map(Number);
  // As the comment on the page says.
  const isOld = minor! < 25 || (minor === 25 && patch! < 1);
  const taken = isOld ? servers.replaceAll('http2 on;', '').replace(/ssl;/g, 'ssl http2;') : servers;
  const file = join(folder, 'nginx.conf');
  // Its own folders belong to another user.
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const http = ['access_log off;', ...folders, taken].join('\n');
  writeFileSync(file, `pid ${folder}/pid;\nevents {}\nhttp {\n${http}\n}\n`);
  const { stderr } = await run('nginx', ['-t', '-p', folder, '-c', file, '-g', 'error_log stderr;']);
  expect(stderr).not.toContain('warn');
});

test('the events to subscribe to at the provider are those that are handled', () => {
  const lists = readBlocks('docs/operations.md').filter(({ text }) => text.startsWith('checkout.'));
  expect(lists.map(({ text }) => text.trim().split(/\s+/).sort())).toEqual([EVENT_TYPES.toSorted()]);
});

describe('settings', () => {
  test.each(BLOCKS.filter(({ notes }) => notes.settings !== undefined))('at $where are taken', ({ text }) => {
    const lines = text.trim().split('\n');
    const entries = lines.map((line) => /^([A-Z_]+)=(\S+)(?: +#.*)?$/.exec(line)!.slice(1, 3));
    const settings = Object.fromEntries(entries);
    expect(() => readConfig({ PAYMENTS: 'none', ...settings })).not.toThrow();
    const known = readPage('docs/reference.md');
    for (const name of Object.keys(settings)) expect(known).toContain(`\`${name}\``);
  });
});
