import type { RequestContext } from '../contract/plugin/context.ts';
import type { UpstreamCall } from '../contract/provider/upstream.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import type { HeaderList } from '../contract/values/http/http.ts';
import { type ExchangeStream, exchangeStream } from '../pipeline/attempt/exchange-stream.ts';
import { hidingSender } from '../pipeline/attempt/hide-credentials.ts';
import { setTraceContext } from '../pipeline/attempt/outgoing-call.ts';
import type { PipelineOptions } from '../pipeline/run.ts';
import { announce } from '../pipeline/run-attempt.ts';
import { type CircuitOwner, enterCircuit } from './circuit.ts';

/** One call of an MCP server or an agent: counted in its circuit, and noted for the record. */
export interface Attempt {
  ended(status: number): void;
  /** Returns the error in the words of `called.named`. */
  failed(thrown: unknown): GatewayError;
}

export interface Called extends CircuitOwner {
  /** Headers of every call. Replies with an error status are shown without the credentials in them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names the server or the agent in an error of the transport. */
  readonly named: (error: GatewayError) => GatewayError;
}

/** The head of a reply, and its body. */
export interface UpstreamResponse {
  readonly status: number;
  readonly headers: HeaderList;
  readonly stream: ExchangeStream;
}

/** Sends a call as an attempt. Throws GatewayError for failures, and `unavailable` while the circuit is open. */
export async function sendAttempt(
  ctx: RequestContext,
  { services, dispatcher }: Pick<PipelineOptions, 'services' | 'dispatcher'>,
  called: Called,
  call: UpstreamCall,
): Promise<UpstreamResponse> {
  const attempt = await beginAttempt(ctx, services, called);
  if (dispatcher.outgoing.traceContext) setTraceContext(ctx, call.headers);
  const owner = { slug: called.document.slug, credentials: {}, headers: Object.entries(called.headers).flat() };
  const stream = exchangeStream(hidingSender(dispatcher.transport, owner), call);
  ctx.abortUpstream = () => stream.abort();
  try {
    const head = await stream.head;
    attempt.ended(head.status);
    return { ...head, stream };
  } catch (thrown) {
    throw attempt.failed(thrown);
  }
}

/**
 * Notes the call for the case that this process is killed. Throws GatewayError `unavailable` while the circuit is open, and `client_closed`
 * if the client disconnected meanwhile.
 */
export async function beginAttempt(
  ctx: RequestContext,
  { circuits, clock }: Pick<PipelineOptions['services'], 'circuits' | 'clock'>,
  called: Called,
): Promise<Attempt> {
  const circuit = enterCircuit(called, circuits);
  const announced = announce(ctx);
  if (announced) await announced;
  // Nothing would end a stream without an end of its own.
  if (ctx.aborted) {
    circuit?.end(null);
    throw new GatewayError('client_closed');
  }
  const startMs = clock.elapsed();
  const { kind, document } = called;
  const note = (status: number, error: GatewayError | null): void => {
    ctx.attempts.push({
      ...{ targetPath: kind, provider: kind, providerSlug: document.slug, status, errorCode: error?.code ?? null },
      ...{ startMs: startMs - ctx.startedAtMs, durationMs: clock.elapsed() - startMs, firstByteMs: 0 },
      ...{ targetIndex: 0, ok: error === null && status < 400, error, retryAfterMs: null },
    });
  };
  return {
    ended(status) {
      note(status, null);
      circuit?.end(status);
    },
    failed(thrown) {
      circuit?.end(ctx.aborted ? null : 502);
      const error = called.named(toGatewayError(thrown));
      note(error.status, error);
      return error;
    },
  };
}
