/**
 * The bill of materials of the service's package (CycloneDX, as JSON), from the lock file: the same each time for one commit and one npm.
 *
 *     npm run --silent sbom
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeShrinkwrap } from './stage-service.ts';

export function makeSbom(root: string): string {
  const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));
  const { devDependencies: _, workspaces: __, ...manifest } = read('package.json');
  const scratch = mkdtempSync(join(tmpdir(), 'boxoffice-sbom-'));
  // npm names what it lists after its folder.
  const folder = join(scratch, manifest.name);
  mkdirSync(folder);
  try {
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(
      join(folder, 'npm-shrinkwrap.json'),
      JSON.stringify(makeShrinkwrap(read('package-lock.json'))),
    );
    const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
    const said = execFileSync('npm', ['sbom', ...options], { cwd: folder, encoding: 'utf8' });
    return `${JSON.stringify(withoutTheRun(JSON.parse(said)), undefined, 2)}\n`;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Without the random number and the time of the run. Both are optional. */
function withoutTheRun({ serialNumber: _, metadata: { timestamp: __, ...metadata }, ...sbom }: Sbom): object {
  return { ...sbom, metadata };
}

interface Sbom {
  readonly serialNumber: string;
  readonly metadata: { readonly timestamp: string };
}

if (import.meta.main) process.stdout.write(makeSbom(join(import.meta.dirname, '..')));
