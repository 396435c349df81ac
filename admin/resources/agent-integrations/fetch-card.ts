import {
  type AgentCardReply,
  agentCardMs,
  agentCardPath,
  agentCardReply,
} from '../../../core/contract/protocol/agents/agent-cards.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { askGateway } from '../../http/gateways/ask-gateway.ts';
import { type Headers, headersForGateways } from '../../secrets/sealed-headers.ts';
import type { AgentIntegration } from './entity.ts';
import { openAgentHeaders } from './headers.ts';

/** Milliseconds that the reply may take longer than the exchange with the agent. */
const slackMs = 400;

type Services = Pick<AdminServices, 'settings' | 'log'>;

/** Has a gateway fetch the card of an agent. Throws AB10 if no gateway replies. */
export function fetchAgentCard(
  services: Services,
  { organisationId, url, headers }: { readonly organisationId: string; readonly url: string; readonly headers: Headers },
): Promise<AgentCardReply> {
  const sealed = headersForGateways(services.settings.clusterKey, `agent-card/${organisationId}`, headers);
  return askGateway(services, {
    ...{ path: agentCardPath, body: { organisationId, url, headers: sealed }, reply: agentCardReply },
    ...{ timeoutMs: agentCardMs + slackMs, what: 'call the agent' },
  });
}

/** Has a gateway fetch the card of a stored agent, with its headers. */
export async function fetchStoredCard(
  em: EntityManager,
  services: Services & Pick<AdminServices, 'vault'>,
  row: AgentIntegration,
): Promise<AgentCardReply> {
  const headers = await openAgentHeaders(em, services.vault, row);
  return fetchAgentCard(services, { organisationId: row.organisationId, url: row.url, headers });
}
