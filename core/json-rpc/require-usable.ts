import { GatewayError } from '../contract/values/errors/errors.ts';
import type { ExchangeStream } from '../pipeline/attempt/exchange-stream.ts';

/** Throws for replies that clients must not see: those about the gateway's own credential, and redirects. */
export function requireUsable(counterpart: 'MCP server' | 'agent', status: number, stream: ExchangeStream): void {
  if (status !== 401 && status !== 403 && (status < 300 || status >= 400)) return;
  stream.abort();
  const message =
    status < 400
      ? `The ${counterpart} replied with a redirect (${status}). Redirects are not followed`
      : `The ${counterpart} rejected the credential of its integration (${status})`;
  throw new GatewayError('upstream_status', { message });
}
