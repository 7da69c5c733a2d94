/** A certificate and its key in PEM files that settings name. */
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { StartError } from './start-error.ts';

export interface PemFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** The variables that name the files. */
export interface PemVariables {
  readonly certificate: string;
  readonly key: string;
}

export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Fails with `StartError` if the files are not a certificate and its key. */
export async function readCertificate(files: PemFiles, variables: PemVariables): Promise<Certificate> {
  const [cert, key] = await Promise.all([
    readPem(files.certificateFile, variables.certificate),
    readPem(files.keyFile, variables.key),
  ]);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const { message } = error as Error;
    const why = `${variables.certificate} and ${variables.key} are no certificate and its key: ${message}`;
    throw new StartError(why, { cause: error });
  }
  return { cert, key };
}

async function readPem(path: string, variable: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new StartError(`${variable} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
