import type { ConnectionOptions } from 'node:tls';
import { parse } from 'pg-connection-string';
import { messageOf } from '../../core/contract/values/errors/message-of.ts';
import { StartError } from '../start-error.ts';

/**
 * Returns the TLS options of `sslmode`, `sslrootcert`, `sslcert` and `sslkey` in DATABASE_URL, which mean the same as for psql: `require`
 * encrypts without a check of the certificate, `verify-full` checks the authority and the name. Undefined without these parameters. The ORM
 * reads no parameters of the URL, so without this the connection would be plain text. Throws StartError if a file cannot be read.
 */
export function databaseTls(url: string): ConnectionOptions | boolean | string | undefined {
  try {
    const { ssl, host } = parse(url, { useLibpqCompat: true });
    // The driver gives no host to Node if it is an address, and Node would compare the certificate with "localhost".
    return typeof ssl === 'object' ? { ...(ssl as ConnectionOptions), host: host ?? undefined } : ssl;
  } catch (error) {
    throw new StartError(`DATABASE_URL: ${messageOf(error)}`);
  }
}
