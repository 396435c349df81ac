import type { IdentityEndpoint, TokenFetch } from '../../contract/provider/sign-services.ts';
import { metadataOrigins, metadataTenant, type UpstreamTransport } from '../../contract/provider/upstream.ts';
import type { CallAddress, ParseUrl } from '../../contract/values/addresses/call-address.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { readWholeReply } from '../attempt/whole-reply.ts';

export interface TokenFetchOptions {
  readonly transport: UpstreamTransport;
  readonly parseUrl: ParseUrl;
  readonly now: () => number;
  /** True allows calls to the machine's metadata service and use of its identity; default false. */
  readonly machineIdentity?: boolean;
  /** Endpoint of the managed identity, for calls with `machineIdentity`; default none. */
  readonly identityEndpoint?: IdentityEndpoint | null;
  /** Origins that the deployment trusts; default none. */
  readonly trusts?: (origin: string) => boolean;
  /** Maximum milliseconds of the whole exchange. Default 10,000. */
  readonly timeoutMs?: number;
}

/** Connection pool of token endpoints. They belong to identity providers, not to a tenant. */
const tenant = 'svc-tokens';
const replyBytesMax = 1024 * 1024;
const timeoutMsDefault = 10_000;

/**
 * Returns the function with which provider adapters fetch tokens: over the shared connector, with deadlines and a size limit,
 * without redirects.
 */
export function createTokenFetch(options: TokenFetchOptions): TokenFetch {
  const { machineIdentity = false } = options;
  const identityEndpoint = machineIdentity ? (options.identityEndpoint ?? null) : null;
  const identityOrigin = identityEndpoint === null ? null : new URL(identityEndpoint.url).origin;
  return {
    ...{ now: options.now, machineIdentity, identityEndpoint },
    trusts: options.trusts ?? (() => false),
    async fetch(request) {
      if (request.metadata && !machineIdentity) {
        throw new GatewayError('forbidden', {
          message: 'The identity of this machine can be used by stored providers only, and only if MACHINE_IDENTITY is true',
        });
      }
      const { timeoutMs = options.timeoutMs ?? timeoutMsDefault } = request;
      const { origin, path } = request.metadata ? metadataUrl(request.url, identityOrigin) : options.parseUrl(request.url);
      return readWholeReply(
        options.transport,
        {
          tenant: request.metadata ? metadataTenant : (request.tenant ?? tenant),
          origin,
          path,
          method: request.method,
          headers: request.headers,
          body: request.body === null ? null : Buffer.from(request.body),
          timeouts: { connectMs: timeoutMs, firstByteMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs },
        },
        replyBytesMax,
        () => new GatewayError('upstream_invalid', { message: 'The response is larger than 1 MiB' }),
      );
    },
  };
}

/**
 * A metadata request goes to one of the known services or to the identity endpoint, even if settings or other variables of the environment
 * name another.
 */
function metadataUrl(text: string, identityOrigin: string | null): CallAddress {
  const url = URL.parse(text);
  if (url === null || !(metadataOrigins.includes(url.origin) || url.origin === identityOrigin)) {
    throw new GatewayError('forbidden', {
      message: 'Expected the address of a cloud metadata service',
      detail: text.slice(0, 200),
    });
  }
  return { origin: url.origin, path: url.pathname + url.search };
}
