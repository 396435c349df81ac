import { type AgentCardQuestion, type AgentCardReply, agentCardMs } from '../contract/protocol/agents/agent-cards.ts';
import type { UpstreamSender } from '../contract/provider/upstream.ts';
import type { ParseUrl } from '../contract/values/addresses/call-address.ts';
import { toGatewayError } from '../contract/values/errors/errors.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { addressFrom } from './agent-settings.ts';
import { nameAgent } from './call-agent.ts';
import { fetchCard } from './fetch-card.ts';

export interface CardReplyParts {
  readonly sender: UpstreamSender;
  readonly clock: Clock;
  /** For URLs that are called unchanged. */
  readonly parseUrl: ParseUrl;
  openHeaders(question: AgentCardQuestion): Record<string, string>;
}

/** Fetches the card of an agent for the control plane. Never rejects: errors are part of the reply. */
export async function replyToCardQuestion(parts: CardReplyParts, question: AgentCardQuestion): Promise<AgentCardReply> {
  const { sender, clock } = parts;
  const startMs = clock.elapsed();
  let status: number | null = null;
  const reply = (rest: Pick<AgentCardReply, 'error' | 'url' | 'card'>): AgentCardReply => ({
    ...{ status, durationMs: Math.round(clock.elapsed() - startMs) },
    ...rest,
  });
  try {
    const { url, card } = await fetchCard({
      ...{ sender, tenant: question.organisationId, headers: parts.openHeaders(question) },
      // Cards of 1.0 name the interfaces of all versions.
      version: '1.0',
      address: addressFrom(parts.parseUrl(question.url)),
      // Several places are asked one after the other. Together they may not take longer.
      timeouts() {
        const leftMs = Math.max(1, agentCardMs - (clock.elapsed() - startMs));
        return { connectMs: leftMs, firstByteMs: leftMs, idleMs: leftMs, totalMs: leftMs };
      },
      onStatus: (one) => {
        status = one;
      },
    });
    return reply({ error: null, url, card });
  } catch (thrown) {
    return reply({ error: nameAgent(toGatewayError(thrown)).message, url: null, card: null });
  }
}
