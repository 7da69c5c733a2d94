/** Where the sandbox of a deployment keeps its keys. */
import { join } from 'node:path';

export interface SandboxSecrets {
  readonly secretKey: string;
  readonly webhookSecret: string;
}

export function sandboxStateDir(dataDir: string): string {
  return join(dataDir, 'sandbox');
}

export function sandboxSecretsPath(dataDir: string): string {
  return join(sandboxStateDir(dataDir), 'secrets.json');
}
