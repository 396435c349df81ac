import type { RequestContext } from '../contract/plugin/context.ts';
import { type GatewayError, toGatewayError } from '../contract/values/errors.ts';
import type { PipelineOptions } from '../pipeline/run.ts';
import { type CircuitOwner, enterCircuit } from './circuit.ts';

/** One call of an MCP server or an agent: counted in its circuit, and noted for the record. */
export interface Attempt {
  ended(status: number): void;
  /** Returns the error in the words of `called.named`. */
  failed(thrown: unknown): GatewayError;
}

export interface Called extends CircuitOwner {
  /** Names the server or the agent in an error of the transport. */
  readonly named: (error: GatewayError) => GatewayError;
}

/** Throws GatewayError `unavailable` while the circuit is open. */
export function beginAttempt(
  ctx: RequestContext,
  { circuits, clock }: Pick<PipelineOptions['services'], 'circuits' | 'clock'>,
  called: Called,
): Attempt {
  const circuit = enterCircuit(called, circuits);
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
