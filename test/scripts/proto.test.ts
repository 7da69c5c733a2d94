/** The committed code of the contract is what `npm run proto` writes. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';

const PROTO = fileURLToPath(new URL('../../proto/', import.meta.url));
const BINARIES = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url));

async function filesOf(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const texts = paths.map(async (path) => [path.slice(folder.length), await readFile(path, 'utf8')] as const);
  return new Map(await Promise.all(texts));
}

test('proto/gen is compiled from proto', async () => {
  const folder = await mkdtemp(join(inject('scratch'), 'proto-'));
  const template = await readFile(join(PROTO, 'buf.gen.yaml'), 'utf8');
  expect(template).toContain('out: gen\n');
  const path = join(folder, 'buf.gen.yaml');
  await writeFile(path, template.replace('out: gen\n', `out: ${folder}/gen\n`));
  await promisify(execFile)('buf', ['generate', '--template', path], {
    cwd: PROTO,
    env: { ...process.env, PATH: `${BINARIES}:${process.env.PATH}` },
  });

  const compiled = await filesOf(join(folder, 'gen'));
  expect([...compiled.keys()]).toContain('/boxoffice/control/v1/room_service_pb.js');
  expect(await filesOf(join(PROTO, 'gen'))).toStrictEqual(compiled);
});
