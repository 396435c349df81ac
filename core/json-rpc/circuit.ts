import type { BreakerSettings, Circuits } from '../contract/plugin/services/circuits.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';

/** An MCP server or an agent. */
export interface CircuitOwner {
  readonly kind: 'mcp' | 'agent';
  /** The kind of target that errors name. */
  readonly label: string;
  readonly document: {
    readonly organisationId: string;
    readonly workspaceId: string;
    readonly id: string;
    readonly slug: string;
    readonly circuit?: BreakerSettings | null | undefined;
  };
}

/** A call counted in a circuit. */
export interface CircuitCall {
  /** Notes the status of the reply, or of the failure; null: the call shows nothing about the server. */
  end(status: number | null): void;
}

/** Enters the circuit of a server; null if it has none. Throws GatewayError `unavailable` while the circuit is open. */
export function enterCircuit({ kind, label, document }: CircuitOwner, circuits: Circuits): CircuitCall | null {
  const { circuit, organisationId, workspaceId, id, slug } = document;
  if (!circuit) return null;
  const breaker = circuits.breaker(`${organisationId}:${workspaceId}:${kind}-${slug}:${id}`, 'config', circuit);
  if (breaker.isOpen()) {
    const message = `The ${label} ${slug} is not called for a time, because its last calls failed`;
    throw new GatewayError('unavailable', { message, retryAfterMs: circuit.cooldownMs });
  }
  const trial = breaker.begin();
  return {
    end(status) {
      const { statusCodes } = circuit;
      breaker.end(trial, status === null ? null : statusCodes ? statusCodes.includes(status) : status >= 500);
    },
  };
}
