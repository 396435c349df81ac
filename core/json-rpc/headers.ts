import type { RequestContext } from '../contract/plugin/context.ts';
import type { ForwardHeaders } from '../contract/protocol/mcp/mcp.ts';
import { isForwardable } from '../contract/protocol/mcp/mcp-headers.ts';
import { holdsCredential } from '../contract/values/credentials/api-key.ts';
import { findHeader, type HeaderList } from '../contract/values/http/http.ts';
import { isGatewayHeader } from '../pipeline/request/gateway-headers.ts';

/** Yields the headers of the client that the rules allow. Credentials and headers of the gateway are never among them. */
export function* forwardedHeaders(
  ctx: RequestContext,
  {
    forwardHeaders,
    tokenHeader = null,
  }: { readonly forwardHeaders: ForwardHeaders | null; readonly tokenHeader?: string | null },
  prefixes: readonly string[],
): Generator<[string, string]> {
  if (forwardHeaders === null) return;
  const { mode, headers: named } = forwardHeaders;
  const sent = ctx.request.headers;
  for (let i = 0; i < sent.length; i += 2) {
    const name = sent[i] as string;
    const value = sent[i + 1] as string;
    if (!isForwardable(name) || isGatewayHeader(name, prefixes)) continue;
    if (name === ctx.keyHeader || name === tokenHeader || name === 'user-agent' || holdsCredential(value, ctx.token)) continue;
    const rule = named.find(({ from }) => from === name);
    if (mode === 'allowlist' ? rule : !rule) yield [mode === 'allowlist' ? (rule?.to ?? name) : name, value];
  }
}

/** Returns the reply headers with these names, which clients of the protocol read. */
export function passedHeaders(headers: HeaderList, names: readonly string[]): HeaderList {
  const kept: HeaderList = [];
  for (const name of names) {
    const value = findHeader(headers, name);
    if (value !== undefined) kept.push(name, value);
  }
  return kept;
}
