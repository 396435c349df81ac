import type { ConnectionOptions } from 'node:tls';
import { parse } from 'pg-connection-string';
import { messageOf } from '../../core/contract/values/errors/message-of.ts';
import { StartError } from '../start-error.ts';

const parameters = ['application_name', 'host', 'options', 'sslcert', 'sslkey', 'sslmode', 'sslrootcert'];
const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** Options of the driver that the parameters of DATABASE_URL set. */
export interface UrlOptions {
  readonly ssl?: ConnectionOptions | boolean | string | undefined;
  /** Name, address, or directory of a Unix socket. */
  readonly host?: string | undefined;
  readonly application_name: string;
  readonly options?: string | undefined;
}

/**
 * Returns the options of the parameters in DATABASE_URL, which mean the same as for psql: `sslmode=require` encrypts without a check of the
 * certificate, `verify-full` checks the authority and the name. The ORM reads no parameters of the URL. Throws StartError if a parameter is
 * not supported, because it would have no effect, if there are several hosts, and if a file cannot be read.
 */
export function optionsOfUrl(url: string): UrlOptions {
  const { searchParams, hostname, username, password, pathname, hash } = new URL(url);
  if (hash !== '') throw new StartError('DATABASE_URL: unexpected #. Write it as %23 in a user or password');
  if (pathname.length < 2)
    throw new StartError('DATABASE_URL: expected the name of a database, such as postgresql://user@host/name');
  for (const name of searchParams.keys())
    if (!parameters.includes(name))
      throw new StartError(
        `DATABASE_URL: the parameter ${name} is not supported. Remove it; supported are ${parameters.join(', ')}`,
      );
  const mode = searchParams.get('sslmode');
  if (mode !== null && !sslModes.includes(mode))
    throw new StartError(`DATABASE_URL: sslmode: got ${JSON.stringify(mode)}, expected one of ${sslModes.join(', ')}`);
  if ([hostname, searchParams.get('host')].some((host) => host?.includes(',')))
    throw new StartError('DATABASE_URL: expected one host. Name a proxy or an address that follows the primary');
  try {
    for (const part of [username, password, pathname]) decodeURIComponent(part);
  } catch {
    throw new StartError('DATABASE_URL: user, password or name has a % that encodes no character. Write % as %25');
  }
  try {
    const { ssl, host, application_name = 'svc-control-plane', options } = parse(url, { useLibpqCompat: true });
    return {
      // The driver gives no host to Node if it is an address, and Node would compare the certificate with "localhost".
      ssl: typeof ssl === 'object' ? { ...(ssl as ConnectionOptions), host: host ?? undefined } : ssl,
      // An IPv6 address without brackets: the ORM keeps them, and would look them up as a name.
      host: host ?? undefined,
      application_name,
      options,
    };
  } catch (error) {
    throw new StartError(`DATABASE_URL: ${messageOf(error)}`);
  }
}
