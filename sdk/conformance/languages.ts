/** The SDKs that have a driver, and how each is built. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findTool } from '../../scripts/toolchains.ts';

const ROOT = join(import.meta.dirname, '../..');
const CACHE = join(ROOT, 'node_modules/.cache');
const run = promisify(execFile);

/** A build of an SDK that was never built takes minutes. */
const BUILD_MS_MAX = 30 * 60_000;

/** How to start a driver, or why there is none. */
export type Found = { readonly command: readonly string[] } | { readonly missing: string };

/** Builds the driver if needed. A build that fails is an error; what is not installed is missing. */
export const LANGUAGES: Readonly<Record<string, () => Promise<Found>>> = {
  typescript: async () => ({
    command: [process.execPath, join(ROOT, 'sdk/typescript/conformance/driver.ts')],
  }),
  go: async () => {
    if (!existsSync(join(ROOT, 'sdk/go/internal/conformance'))) return { missing: 'sdk/go has no driver' };
    const go = findTool('go');
    if (!go) return { missing: 'go is not installed' };
    const program = join(CACHE, 'conformance/go');
    const env = { ...process.env, GOCACHE: join(CACHE, 'go') };
    await build(go, ['build', '-o', program, './internal/conformance'], { cwd: join(ROOT, 'sdk/go'), env });
    return { command: [program] };
  },
  rust: async () => {
    if (!existsSync(join(ROOT, 'sdk/rust/examples/conformance.rs'))) {
      return { missing: 'sdk/rust has no driver' };
    }
    const cargo = findTool('cargo');
    if (!cargo) return { missing: 'cargo is not installed' };
    const target = join(CACHE, 'rust');
    const env = { ...process.env, CARGO_TARGET_DIR: target };
    const args = ['build', '-j2', '--locked', '--example', 'conformance', '--features', 'relay'];
    await build(cargo, args, { cwd: join(ROOT, 'sdk/rust'), env });
    return { command: [join(target, 'debug/examples/conformance')] };
  },
};

async function build(
  command: string,
  args: string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<void> {
  await run(command, args, { ...options, timeout: BUILD_MS_MAX, maxBuffer: 64 * 1024 * 1024 }).catch(
    (error: { stderr?: string; message: string }) => {
      throw new Error(`the driver cannot be built: ${error.stderr || error.message}`);
    },
  );
}
