/** The certificate of the gRPC listener. */
import { ServerCredentials } from '@grpc/grpc-js';
import { type PemFiles, readCertificate } from '../../base/lib/pem-files.ts';

/** Without `tls`, plain HTTP/2. Fails with `StartError` if the files are not a certificate and its key. */
export async function credentialsOf(tls: PemFiles | undefined): Promise<ServerCredentials> {
  if (!tls) return ServerCredentials.createInsecure();
  const { cert, key } = await readCertificate(tls, { certificate: 'TLS_CERT', key: 'TLS_KEY' });
  return ServerCredentials.createSsl(null, [{ cert_chain: cert, private_key: key }]);
}
