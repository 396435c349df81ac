import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { rootCertificates } from 'node:tls';
import type { buildConnector as BuildConnector } from 'undici';
import {
  checkAddress,
  checkHost,
  isMetadataAddress,
  isPublicAddress,
  type TrustedHosts,
} from '../contract/values/addresses/outbound-url.ts';
import { isTrustedName } from '../contract/values/addresses/trusted-hosts.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { type Resolve, resolveWithDns, resolveWithSystem } from './resolve-name.ts';
import { buildConnector } from './undici-client.ts';

export interface ConnectorOptions {
  readonly trusted: TrustedHosts;
  /** Default: DNS; the system's resolver for names that the operator chose. */
  readonly resolve?: Resolve;
  /** Certificates trusted beside the public ones, PEM. */
  readonly ca?: readonly string[];
  /** Opens the socket. Default: undici's connector. */
  readonly dial?: typeof BuildConnector;
}

/** The destination of the connector of one pool. */
export interface ConnectTarget {
  readonly hostname: string;
  readonly port: number;
  /** True for the control plane, which is exempt from the address rules. */
  readonly internal: boolean;
  /** True for the metadata service of the machine's cloud. Only metadata addresses are then allowed. */
  readonly metadata?: boolean;
  /** True for the identity endpoint that the operator's environment names. With `metadata`, all addresses that are not public are then allowed. */
  readonly identity?: boolean;
}

export type Connect = (options: BuildConnector.Options, callback: BuildConnector.Callback) => Attempt;

export interface Attempt {
  /** Abandons the attempt. The callback gets an error if it has not been called yet. */
  cancel(): void;
  /** True until the name of the host is resolved. Absent: the host is not resolved here. */
  isResolving?(): boolean;
}

/**
 * Opens every socket of the gateway. Name and port are checked first, and literal addresses directly. A name is resolved once,
 * every resolved address is checked, and only those addresses are connected to. The peer of the open socket is checked again
 * before the first byte (TLS hello included) is written. A refusal is `invalid_custom_host` with one text for all reasons, so
 * that neither the text nor a connection reveals what is behind the address.
 */
export function createConnector(target: ConnectTarget, options: ConnectorOptions): Connect {
  const { hostname, port, internal, metadata = false } = target;
  const judge = judgeOf(target, options.trusted);
  const dial = createDial(options, guardedLookup(resolveOf(target, options), judge));
  return (connectOptions, callback) => {
    const reason = internal || metadata ? null : checkHost(hostname, port, options.trusted);
    if (reason !== null) {
      queueMicrotask(() => callback(refusal(reason), null));
      return { cancel: () => {} };
    }
    let refused: GatewayError | null = null;
    const socket = dial(connectOptions, (...[error, open]: BuildConnector.CallbackArgs) => {
      if (error !== null) callback(refused ?? error, null);
      else if (refused !== null) callback(refused, null);
      else callback(null, open);
    });
    // First among the listeners of `connect`: before the TLS handshake and undici.
    socket.prependOnceListener('connect', () => {
      const error = socket.remoteAddress === undefined ? 'peer unknown' : judge(socket.remoteAddress);
      if (error === null) return;
      refused = refusal(`connected to ${socket.remoteAddress}: ${error}`);
      socket.destroy(refused);
    });
    let isResolved = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
    socket.once('lookup', () => {
      isResolved = true;
    });
    return { cancel: () => socket.destroy(givenUp), isResolving: () => !isResolved };
  };
}

/** Returns a function that returns the reason why an address must not be connected to, or null. */
export function judgeOf({ hostname, port, internal, metadata = false, identity }: ConnectTarget, trusted: TrustedHosts) {
  return (address: string): string | null => {
    if (metadata && identity) return isPublicAddress(address) ? 'expected the address of an identity endpoint' : null;
    if (metadata) return isMetadataAddress(address) ? null : 'expected the address of a metadata service';
    return internal ? null : checkAddress(address, hostname, port, trusted);
  };
}

/** Opens a socket, with TLS if the target has it. The deadline of a call covers connecting too, so there is none here. */
export function createDial({ dial = buildConnector, ca }: ConnectorOptions, lookup?: LookupFunction) {
  return dial({
    ...{ allowH2: false, timeout: 0 },
    ...(lookup === undefined ? {} : { lookup }),
    ...(ca === undefined ? {} : { ca: [...rootCertificates, ...ca] }),
  }) as (options: BuildConnector.Options, callback: BuildConnector.Callback) => Socket;
}

/**
 * Returns a `lookup` for sockets that returns checked addresses only. One forbidden address rejects the whole name. Connections
 * opened during a look-up share it.
 */
function guardedLookup(resolve: Resolve, judge: (address: string) => string | null): LookupFunction {
  type LookupCallback = (error: Error | null, addresses: readonly LookupAddress[]) => void;
  let waiting: LookupCallback[] = [];
  return (hostname, options, callback) => {
    waiting.push((error, addresses) => {
      const first = addresses[0];
      if (error !== null || first === undefined) callback(error ?? noAddress(hostname), '');
      else if (options.all) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
    if (waiting.length > 1) return;
    resolve(hostname, (error, addresses) => {
      const waiters = waiting;
      waiting = [];
      const failure = error ?? refusalOf(hostname, addresses, judge);
      for (const callBack of waiters) callBack(failure, failure === null ? addresses : []);
    });
  };
}

/** Returns the error for the first of these addresses that `judge` refuses; null if it refuses none. `judge` returns the reason or null. */
export function refusalOf(
  hostname: string,
  addresses: readonly LookupAddress[],
  judge: (address: string) => string | null,
): GatewayError | null {
  for (const { address } of addresses) {
    const reason = isIP(address) === 0 ? 'not an address' : judge(address);
    if (reason !== null) return refusal(`${hostname} resolves to ${address}: ${reason}`);
  }
  return null;
}

function noAddress(hostname: string): Error {
  return Object.assign(new Error(`no address for ${hostname}`), { code: 'ENOTFOUND' });
}

/** Names that the operator chose may be known to the machine alone. All others are names of tenants. */
export function resolveOf(
  { hostname, port, internal, metadata }: ConnectTarget,
  { resolve, trusted }: ConnectorOptions,
): Resolve {
  return resolve ?? (internal || metadata || isTrustedName(trusted, hostname, port) ? resolveWithSystem : resolveWithDns);
}

/** Returns the error for an address that may not be called. `detail` is for the log: a client does not learn which addresses exist. */
export function refusal(detail: string): GatewayError {
  return new GatewayError('invalid_custom_host', { detail });
}

export const givenUp = Object.assign(new Error('the connection attempt was cancelled'), { code: 'ECONNABORTED' });
