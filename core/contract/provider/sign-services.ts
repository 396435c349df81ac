import type { Secret } from '../values/credentials/secret.ts';
import type { HeaderList } from '../values/http/http.ts';
import type { Maybe } from '../values/maybe.ts';

/** Services for schemes that request a token from another service. */
export interface SignServices extends TokenFetch {
  /** Tokens that calls with these services have obtained. */
  readonly tokens: TokenCaches;
}

/** Requests to other services, and what they may be allowed to do. */
export interface TokenFetch {
  /**
   * Makes one HTTP exchange over the gateway's own connector and returns the whole reply (≤ 1 MiB). With `metadata` it may call
   * the cloud's instance metadata addresses and `identityEndpoint`, if the deployment allows it. All other calls to them are rejected. Rejects with
   * GatewayError.
   */
  fetch(request: TokenRequest): Promise<{ readonly status: number; readonly headers: HeaderList; readonly body: Uint8Array }>;
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * True if this call may use the machine's own cloud identity (metadata service, token files of the orchestrator): the
   * deployment allows it, and the provider is a stored one. False or absent: `metadata` requests are rejected.
   */
  readonly machineIdentity?: boolean;
  /** The endpoint of the managed identity, if the platform of this machine has one and `machineIdentity` is true. */
  readonly identityEndpoint?: IdentityEndpoint | null;
  /** Returns true if the deployment lists the host of this origin, by name or address. Absent: no host is listed. */
  trusts?(origin: string): boolean;
}

/**
 * The endpoint from which Azure App Service, Functions, Container Apps (`header`) or Azure Arc (`keyFolder`) return tokens of the managed
 * identity. It comes from the environment of this process. Requests with `metadata` may call its origin, which is closed to all others.
 */
export type IdentityEndpoint = { readonly url: string } & (
  | { readonly header: Secret }
  /** Folder of the files whose content Azure Arc requires as proof. */
  | { readonly keyFolder: string }
);

export interface TokenRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly headers: HeaderList;
  readonly body: string | null;
  readonly metadata?: boolean;
  /** The tenant whose connections are used; absent: the connections shared by all token endpoints. */
  readonly tenant?: string;
  /** Maximum milliseconds of the whole exchange; absent: that of the service. */
  readonly timeoutMs?: number;
}

/** Caches of tokens by scheme. */
export interface TokenCaches {
  /** Returns the cache of a scheme, such as `vertex-ai`. The options count on first use. */
  of<Cached extends Token = Token>(scheme: string, options?: TokenCacheOptions): TokenCache<Cached>;
}

export interface Token {
  readonly value: Secret;
  /** Milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

export interface TokenCache<Cached extends Token = Token> {
  /**
   * Returns the token of this key: at once if a valid one is stored, else after `obtain`, which is called once for all waiting
   * callers. A token near its end is still returned while the next one is fetched. Rejects with the error of `obtain` if there is
   * no valid token.
   */
  get(key: string, nowMs: number, obtain: () => Promise<Cached>): Maybe<Cached>;
  /** Removes a token that was rejected before its end. The next `get` obtains another one. */
  forget(key: string, token: Cached): void;
}

export interface TokenCacheOptions {
  /** Maximum number of tokens. The least recently used one is removed first. Default 2000. */
  readonly entriesMax?: number;
}
