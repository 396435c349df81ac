import { type GatewayError, toGatewayError } from '../contract/values/errors.ts';
import type { Work } from './exchange.ts';
import { enterCircuit } from './server-circuit.ts';
import { nameServer } from './server-errors.ts';

/** One call of the server: counted in its circuit, and noted for the record. */
export interface McpAttempt {
  ended(status: number): void;
  /** Returns the error that names the server. */
  failed(thrown: unknown): GatewayError;
}

/** Throws GatewayError `unavailable` while the circuit of the server is open. */
export function beginAttempt({ ctx, server, options: { services } }: Pick<Work, 'ctx' | 'server' | 'options'>): McpAttempt {
  const circuit = enterCircuit(server.document, services.circuits);
  const startMs = services.clock.elapsed();
  const note = (status: number, error: GatewayError | null): void => {
    ctx.attempts.push({
      ...{ targetPath: 'mcp', provider: 'mcp', providerSlug: server.document.slug, status, errorCode: error?.code ?? null },
      ...{ startMs: startMs - ctx.startedAtMs, durationMs: services.clock.elapsed() - startMs, firstByteMs: 0 },
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
      const error = nameServer(toGatewayError(thrown));
      note(error.status, error);
      return error;
    },
  };
}
