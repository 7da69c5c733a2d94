/**
 * The secrets that service and sandbox share: made at the first start, and kept beside the sandbox's state.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepFile } from '../base/lib/keep-file.ts';

export interface SandboxSecrets {
  readonly secretKey: string;
  readonly webhookSecret: string;
}

/** The folder of the sandbox's state. */
export function sandboxFolder(dataDir: string): string {
  return join(dataDir, 'sandbox');
}

/** Created once, then kept: earlier payments must be reachable after a restart. */
export function keepSandboxSecrets(dataDir: string): SandboxSecrets {
  const make = (): SandboxSecrets => ({
    secretKey: `sk_test_${randomBytes(24).toString('base64url')}`,
    webhookSecret: `whsec_${randomBytes(24).toString('base64url')}`,
  });
  return JSON.parse(keepFile(pathOf(dataDir), () => JSON.stringify(make())));
}

/** Returns undefined if no sandbox has run with this folder. */
export function readSandboxSecrets(dataDir: string): SandboxSecrets | undefined {
  const path = pathOf(dataDir);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

function pathOf(dataDir: string): string {
  return join(sandboxFolder(dataDir), 'secrets.json');
}
