import type { ConnectionOptions } from 'node:tls';
import { parse } from 'pg-connection-string';
import { messageOf } from '../../core/contract/values/errors/message-of.ts';
import { StartError } from '../start-error.ts';

const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];
/** Parameters, with their values if only some are supported. */
const parameters: Readonly<Record<string, readonly string[] | null>> = {
  application_name: null,
  channel_binding: ['disable', 'prefer', 'require'],
  host: null,
  options: null,
  schema: ['public'],
  ssl: ['true'],
  sslcert: null,
  sslkey: null,
  sslmode: sslModes,
  sslrootcert: null,
};

/** Options of the driver that DATABASE_URL sets. */
export interface UrlOptions {
  readonly ssl: ConnectionOptions | false | undefined;
  /** Name, address without brackets, or directory of a Unix socket. */
  readonly host: string;
  readonly application_name: string;
  readonly options: string | undefined;
  /** The driver uses channel binding if the server offers it. */
  readonly enableChannelBinding: boolean;
}

/**
 * Returns the options of DATABASE_URL, whose parameters mean the same as for psql: `sslmode=require` encrypts without a check of the
 * certificate, `verify-full` checks the authority and the name. `ssl=true`, which drivers read differently, checks both. The ORM reads no
 * parameters of the URL. Throws StartError if a parameter is not supported, because it would have no effect, if there are several hosts, and
 * if a file cannot be read.
 */
export function optionsOfUrl(url: string): UrlOptions {
  const { searchParams, hostname, username, password, pathname, hash } = new URL(url);
  if (hash !== '') throw new StartError('DATABASE_URL: unexpected #. Write it as %23 in a user or password');
  if (pathname.length < 2)
    throw new StartError('DATABASE_URL: expected the name of a database, such as postgresql://user@host/name');
  checkParameters(searchParams);
  const host = searchParams.get('host') || decoded(hostname, 'host').replace(/^\[(.+)\]$/, '$1');
  if (host.includes(','))
    throw new StartError('DATABASE_URL: expected one host. Name a proxy or an address that follows the primary');
  decoded(username, 'user');
  decoded(password, 'password');
  decoded(pathname, 'name of the database');
  return {
    // psql too uses no TLS with a Unix socket.
    ssl: host.startsWith('/') ? false : tlsOf(searchParams, host),
    host,
    application_name: searchParams.get('application_name') || 'svc-control-plane',
    options: searchParams.get('options') ?? undefined,
    enableChannelBinding: ['prefer', 'require'].includes(searchParams.get('channel_binding') ?? ''),
  };
}

/** Returns true if connections without channel binding must be refused. */
export function requiresChannelBinding(url: string): boolean {
  return new URL(url).searchParams.get('channel_binding') === 'require';
}

function checkParameters(given: URLSearchParams): void {
  for (const name of given.keys()) {
    if (!Object.hasOwn(parameters, name)) {
      const supported = Object.keys(parameters).join(', ');
      throw new StartError(`DATABASE_URL: the parameter ${name} is not supported. Remove it; supported are ${supported}`);
    }
    const [value = '', ...others] = given.getAll(name);
    if (others.length > 0) throw new StartError(`DATABASE_URL: ${name}: expected once`);
    const values = parameters[name];
    if (values && !values.includes(value))
      throw new StartError(`DATABASE_URL: ${name}: got ${JSON.stringify(value)}, expected one of ${values.join(', ')}`);
  }
}

/** The driver decodes the parts of a URL later, and its error does not name the setting. */
function decoded(text: string, part: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new StartError(`DATABASE_URL: ${part}: expected % to begin an escape such as %40. Write %25 for %`);
  }
}

function tlsOf(given: URLSearchParams, host: string): UrlOptions['ssl'] {
  const own = new URLSearchParams([...given].filter(([name]) => name !== 'ssl' && name.startsWith('ssl')));
  // As for psql, the authorities of the system require the strictest mode.
  const isSystem = own.get('sslrootcert') === 'system';
  if (isSystem) own.delete('sslrootcert');
  if (!own.has('sslmode') && (isSystem || given.has('ssl'))) own.set('sslmode', 'verify-full');
  if (isSystem && own.get('sslmode') !== 'verify-full')
    throw new StartError('DATABASE_URL: sslrootcert=system: expected sslmode=verify-full');
  try {
    const { ssl } = parse(`postgresql://host/?${own}`, { useLibpqCompat: true });
    // The driver gives no host to Node if it is an address, and Node would compare the certificate with "localhost".
    return typeof ssl === 'object' ? { ...(ssl as ConnectionOptions), host } : ssl === false ? false : undefined;
  } catch (error) {
    const { path } = error as NodeJS.ErrnoException;
    const file = ['sslcert', 'sslkey', 'sslrootcert'].find((name) => path !== undefined && own.get(name) === path);
    throw new StartError(`DATABASE_URL: ${file === undefined ? '' : `${file}: `}${messageOf(error)}`);
  }
}
