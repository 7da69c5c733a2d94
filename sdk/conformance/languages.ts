/** The SDKs that have a driver, and how each is built. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { findPython, findTool, RUST_TARGET, runTool } from '../../scripts/toolchains.ts';

const ROOT = join(import.meta.dirname, '../..');

/** How to start a driver, or why there is none. */
export type Found = { readonly command: readonly string[] } | { readonly missing: string };

/** Builds the driver if needed. A build that fails is an error; what is not installed is missing. */
export const LANGUAGES = languagesIn(ROOT);

/** Those of another tree, whose packages are linked. */
export function languagesIn(root: string): Readonly<Record<string, () => Promise<Found>>> {
  const folderOf = (name: string) => relative(ROOT, join(root, name));
  return {
    typescript: async () => ({
      command: [process.execPath, join(root, 'sdk/typescript/conformance/driver.ts')],
    }),
    go: async () => {
      if (!existsSync(join(root, 'sdk/go/internal/conformance'))) return { missing: 'sdk/go has no driver' };
      if (!findTool('go')) return { missing: 'go is not installed' };
      const program = join(root, 'node_modules/.cache/conformance/go');
      await runTool('go', ['build', '-o', program, './internal/conformance'], { folder: folderOf('sdk/go') });
      return { command: [program] };
    },
    rust: async () => {
      if (!existsSync(join(root, 'sdk/rust/examples/conformance.rs'))) {
        return { missing: 'sdk/rust has no driver' };
      }
      if (!findTool('cargo')) return { missing: 'cargo is not installed' };
      const args = ['build', '--locked', '--example', 'conformance', '--features', 'relay'];
      await runTool('cargo', args, { folder: folderOf('sdk/rust') });
      return { command: [join(RUST_TARGET, 'debug/examples/conformance')] };
    },
    python: async () => {
      const python = await findPython();
      if (!python) return { missing: 'Python 3.10 with venv is not installed' };
      const source = join(root, 'sdk/python');
      return { command: ['env', `PYTHONPATH=${source}/src`, python, `${source}/conformance/driver.py`] };
    },
  };
}
