/** The certificate of the gRPC listener. */
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { ServerCredentials } from '@grpc/grpc-js';
import { StartError } from '../../base/lib/start-error.ts';

/** PEM files. */
export interface Tls {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** Without `tls`, plain HTTP/2. Fails with `StartError` if the files are not a certificate and its key. */
export async function credentialsOf(tls: Tls | undefined): Promise<ServerCredentials> {
  if (!tls) return ServerCredentials.createInsecure();
  const [cert, key] = await Promise.all([
    readPem(tls.certificateFile, 'TLS_CERT'),
    readPem(tls.keyFile, 'TLS_KEY'),
  ]);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const { message } = error as Error;
    throw new StartError(`TLS_CERT and TLS_KEY are no certificate and its key: ${message}`, { cause: error });
  }
  return ServerCredentials.createSsl(null, [{ cert_chain: cert, private_key: key }]);
}

async function readPem(path: string, variable: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new StartError(`${variable} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
