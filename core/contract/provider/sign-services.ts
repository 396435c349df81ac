import type { HeaderList } from '../values/http.ts';

/** Services for schemes that request a token from another service. */
export interface SignServices {
  /**
   * Makes one HTTP exchange over the gateway's own connector and returns the whole reply (≤ 1 MiB). With `metadata` it may call
   * the cloud's instance metadata addresses, if the deployment allows it. All other calls to them are rejected. Rejects with
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
  /** Returns true if the deployment lists the host of this origin, by name or address. Absent: no host is listed. */
  trusts?(origin: string): boolean;
}

export interface TokenRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly headers: HeaderList;
  readonly body: string | null;
  readonly metadata?: boolean;
  /** The tenant whose connections are used; absent: the connections shared by all token endpoints. */
  readonly tenant?: string;
}
