import type { RequestContext } from '../contract/plugin/context.ts';
import type { UpstreamCall } from '../contract/provider/upstream.ts';
import type { GatewayError } from '../contract/values/errors/errors.ts';
import { findHeader, type HeaderList } from '../contract/values/http/http.ts';
import { isEventStream } from '../contract/values/text/event-text.ts';
import { sendAttempt } from '../json-rpc/attempt.ts';
import { forwardedHeaders, passedHeaders } from '../json-rpc/headers.ts';
import { nameCounterpart } from '../json-rpc/name-counterpart.ts';
import { requireUsable } from '../json-rpc/require-usable.ts';
import type { ExchangeStream } from '../pipeline/attempt/exchange-stream.ts';
import type { PipelineOptions } from '../pipeline/run.ts';
import type { AgentAddress, AgentSettings } from './agent-settings.ts';

/** Headers of the protocol in both versions. */
const protocolHeaders: readonly string[] = [
  ...['accept', 'content-type', 'a2a-version', 'a2a-extensions', 'x-a2a-extensions', 'last-event-id'],
];

/** Headers of an agent that clients of the protocol read. */
const passed: readonly string[] = ['content-type', 'a2a-version', 'a2a-extensions', 'x-a2a-extensions', 'retry-after', 'allow'];

export interface OutgoingCall {
  readonly agent: AgentSettings;
  readonly address: AgentAddress;
  /** Path below the address. */
  readonly rest: string;
  readonly body: Uint8Array | null;
  readonly connectTimeoutMs: number;
  /** Milliseconds to the head of the reply, and between two chunks of it. */
  readonly requestTimeoutMs: number;
}

export interface AgentResponse {
  readonly status: number;
  /** Those that pass to the client. */
  readonly headers: HeaderList;
  readonly isStream: boolean;
  readonly stream: ExchangeStream;
}

/**
 * Sends a request to the agent, and notes it as an attempt. Throws GatewayError for failures and for replies that clients must not see: those
 * about the gateway's own credential, and redirects. Throws GatewayError `unavailable` while the circuit of the agent is open.
 */
export async function callAgent(ctx: RequestContext, options: PipelineOptions, outgoing: OutgoingCall): Promise<AgentResponse> {
  const { document, headers: own } = outgoing.agent;
  const called = { kind: 'agent', label: 'agent', document, headers: own, named: nameAgent } as const;
  const { status, headers, stream } = await sendAttempt(ctx, options, called, upstreamCall(ctx, options, outgoing));
  requireUsable('agent', status, stream);
  const isStream = isEventStream(findHeader(headers, 'content-type'));
  return { status, headers: passedHeaders(headers, passed), isStream, stream };
}

function upstreamCall(ctx: RequestContext, { prefixes }: PipelineOptions, outgoing: OutgoingCall): UpstreamCall {
  const { agent, address, rest, body, connectTimeoutMs: connectMs, requestTimeoutMs: ms } = outgoing;
  const { document, headers: own } = agent;
  const headers: HeaderList = [];
  for (const [name, value] of forwardedHeaders(ctx, document, prefixes)) {
    if (own[name] === undefined && !protocolHeaders.includes(name)) headers.push(name, value);
  }
  for (const [name, value] of Object.entries(own)) headers.push(name, value);
  for (const name of protocolHeaders) {
    const value = ctx.request.header(name);
    if (value !== undefined) headers.push(name, value);
  }
  headers.push('user-agent', 'svc-gateway');
  const query = [address.query, ctx.query].filter((part) => part !== '').join('&');
  const path = `${address.path}${rest}` || '/';
  return {
    ...{ tenant: document.workspaceId, origin: address.origin, path: query === '' ? path : `${path}?${query}` },
    ...{ method: ctx.request.method, headers, body },
    timeouts: { connectMs, firstByteMs: ms, idleMs: ms, totalMs: 0 },
  };
}

/** Names the agent instead of a provider in errors of the transport. */
export function nameAgent(error: GatewayError): GatewayError {
  return nameCounterpart(error, 'agent', 'REQUEST_TIMEOUT');
}
