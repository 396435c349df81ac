import type { Circuits } from '../contract/plugin/circuits.ts';
import type { McpServerDocument } from '../contract/protocol/mcp.ts';
import { GatewayError } from '../contract/values/errors.ts';

/** A call counted in the circuit of its server. */
interface CircuitCall {
  /** Notes the status of the reply, or of the failure; null: the call shows nothing about the server. */
  end(status: number | null): void;
}

/** Enters the circuit of a server; null if it has none. Throws GatewayError `unavailable` while the circuit is open. */
export function enterCircuit(document: McpServerDocument, circuits: Circuits): CircuitCall | null {
  const { circuit, organisationId, workspaceId, id, slug } = document;
  if (!circuit) return null;
  const breaker = circuits.breaker(`${organisationId}:${workspaceId}:mcp-${slug}:${id}`, 'config', circuit);
  if (breaker.isOpen()) {
    const message = `The MCP server ${slug} is not called for a time, because its last calls failed`;
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
