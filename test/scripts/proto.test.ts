/** The committed code of the contract is what `npm run proto` writes. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TARGETS = ['src/gen', 'sdk/typescript/src/gen'];

const filesOf = async (folder: string) => {
  const names = await readdir(folder, { recursive: true });
  const sources = names.filter((name) => name.endsWith('.ts')).sort();
  return Promise.all(sources.map(async (name) => [name, await readFile(join(folder, name), 'utf8')]));
};

test.each(TARGETS)(
  '%s is compiled from proto',
  async (target) => {
    const folder = await mkdtemp(join(inject('scratch'), 'proto-'));
    const template = await readFile(join(ROOT, 'proto/buf.gen.yaml'), 'utf8');
    expect(template).toContain(`out: ../${target}`);
    await mkdir(join(folder, 'proto'));
    const path = join(folder, 'proto/buf.gen.yaml');
    await writeFile(path, template.replace(/out: \.\.\//g, `out: ${folder}/`));
    await promisify(execFile)('buf', ['generate', '--template', path], {
      cwd: join(ROOT, 'proto'),
      env: { ...process.env, PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}` },
    });
    expect(await filesOf(join(ROOT, target))).toStrictEqual(await filesOf(join(folder, target)));
  },
  60_000,
);
