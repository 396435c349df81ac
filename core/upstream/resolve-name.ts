import { type LookupAddress, lookup, Resolver } from 'node:dns';
import { readFileSync, statSync } from 'node:fs';

/** Returns all addresses of a name. Called once per connection, or once for several that open at the same time. */
export type Resolve = (hostname: string, callback: (error: Error | null, addresses: readonly LookupAddress[]) => void) => void;

/** Resolves a name as the system does: hosts file, DNS with its search list, and further sources of the machine. */
export const resolveWithSystem: Resolve = (hostname, callback) => {
  lookup(hostname, { all: true }, callback);
};

export interface DnsOptions {
  /** Addresses of name servers, with ports. Default: those of the system. */
  readonly servers?: readonly string[];
  /** Default: `/etc/hosts`. */
  readonly hostsFile?: string;
}

/** Milliseconds that known IPv4 addresses wait for those of IPv6 (RFC 8305 §3). */
const otherFamilyMs = 50;

/**
 * Returns a function that asks the name servers itself. The system's resolver blocks a thread per name, and only eight look-ups of a process
 * run at a time, so that eight names whose servers do not reply would stop the look-ups of all tenants. Names of the hosts file are left to
 * the system, which does not ask a server for them.
 */
export function createDnsResolve({ servers, hostsFile = '/etc/hosts' }: DnsOptions = {}): Resolve {
  const isInHostsFile = hostsFileReader(hostsFile);
  return (hostname, callback) => {
    if (isInHostsFile(hostname)) return resolveWithSystem(hostname, callback);
    // A new one reads `resolv.conf` again, which takes 50 µs.
    const resolver = new Resolver();
    if (servers) resolver.setServers(servers);
    let four: readonly string[] | null = null;
    let six: readonly string[] | null = null;
    let failure: Error | null = null;
    let timer: NodeJS.Timeout | null = null;
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      if (timer !== null) clearTimeout(timer);
      const addresses = [...entries(four, 4), ...entries(six, 6)];
      if (addresses.length > 0) callback(null, addresses);
      else callback(systemError(failure, hostname), []);
    };
    const settle = (error: Error | null): void => {
      // An absent name or type is known for certain. Any other error may be temporary, and is the reason if nothing is found.
      if (error !== null && (failure === null || isAbsent(failure))) failure = error;
      if (four !== null && six !== null) end();
      else if (four !== null && four.length > 0) timer ??= setTimeout(end, otherFamilyMs);
    };
    resolver.resolve4(hostname, (error, found = []) => {
      four = found;
      settle(error);
    });
    resolver.resolve6(hostname, (error, found = []) => {
      six = found;
      settle(error);
    });
  };
}

export const resolveWithDns = createDnsResolve();

function entries(addresses: readonly string[] | null, family: 4 | 6): LookupAddress[] {
  return (addresses ?? []).map((address) => ({ address, family }));
}

function isAbsent(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOTFOUND' || code === 'ENODATA';
}

/** Returns the error that the system's resolver has. A refused connection to a name server must not look like one to the host. */
function systemError(failure: Error | null, hostname: string): Error {
  const code = failure === null || isAbsent(failure) ? 'ENOTFOUND' : 'EAI_AGAIN';
  return Object.assign(new Error(`${failure?.message ?? 'no address'}: ${hostname}`, { cause: failure }), { code });
}

/** Returns a function that returns true for names of the file. It is read again after a change. */
function hostsFileReader(path: string): (hostname: string) => boolean {
  let changedAtMs = Number.NaN;
  let names: ReadonlySet<string> = new Set();
  return (hostname) => {
    const atMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (atMs !== changedAtMs) {
      changedAtMs = atMs;
      names = new Set(atMs === 0 ? [] : namesIn(readFileSync(path, 'utf8')));
    }
    return names.has(hostname);
  };
}

function namesIn(text: string): string[] {
  return text.split('\n').flatMap((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/).slice(1));
}
