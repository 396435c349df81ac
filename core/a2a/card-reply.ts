import { hash } from 'node:crypto';
import type { Reply } from '../contract/plugin/plugin.ts';
import type { AgentServerDocument } from '../contract/protocol/agents/agents.ts';
import { toGatewayError } from '../contract/values/errors/errors.ts';
import type { JsonObject } from '../contract/values/json/json.ts';
import { addressFrom } from './agent-settings.ts';
import { nameAgent } from './call-agent.ts';
import { fetchCard } from './fetch-card.ts';
import { type CardRewrite, rewriteCard } from './rewrite-card.ts';
import type { Work } from './serve-agent.ts';

/** Seconds that a client may use a card without asking again. Changes of skills reach it after this time. */
const cacheSeconds = 60;

/** Returns the stored card if it has the shape of the client's version. Otherwise asks the agent. */
export async function cardReply(work: Work): Promise<Reply> {
  const { parts, ctx, call, agent } = work;
  call.operation = 'GetAgentCard';
  const card = inShapeOf(call.version, await cardOf(work));
  const body = JSON.stringify(rewriteCard(card, rewriteOf(parts.publicUrl, agent.document)));
  const tag = `"${hash('sha256', body, 'base64url')}"`;
  // The shape depends on the version, and the key may be taken away.
  const headers = ['etag', tag, 'cache-control', `private, max-age=${cacheSeconds}`, 'vary', 'a2a-version'];
  if (ctx.request.header('if-none-match')?.includes(tag)) return { status: 304, headers, body: '' };
  return { status: 200, headers: ['content-type', 'application/json', ...headers], body };
}

async function cardOf({ parts, options, call, agent }: Work): Promise<JsonObject> {
  const { document, headers } = agent;
  const version = call.version ?? '0.3';
  const { connectTimeoutMs: connectMs } = parts;
  const ms = document.timeoutMs ?? parts.requestTimeoutMs;
  const stored = document.card;
  if (stored !== null && (/^0\./.test(version) ? 'url' in stored : 'supportedInterfaces' in stored)) return stored;
  try {
    const fetched = await fetchCard({
      ...{ sender: options.dispatcher.transport, tenant: document.workspaceId, headers, version },
      address: addressFrom(parts.parseUrl(document.url)),
      timeouts: () => ({ connectMs, firstByteMs: ms, idleMs: ms, totalMs: ms }),
    });
    return fetched.card;
  } catch (thrown) {
    if (stored === null) throw nameAgent(toGatewayError(thrown));
    return stored;
  }
}

/** Members of 0.3 that 1.0 does not have. */
const membersOf03: ReadonlySet<string> = new Set([
  'url',
  'preferredTransport',
  'additionalInterfaces',
  'protocolVersion',
  'security',
  'supportsAuthenticatedExtendedCard',
]);

/** Removes the shape of 0.3 for clients that state another version: the SDK for Java rejects members that 1.0 does not have. */
function inShapeOf(version: string | null, card: JsonObject): JsonObject {
  if (version === null || /^0\./.test(version) || !('supportedInterfaces' in card)) return card;
  return Object.fromEntries(Object.entries(card).filter(([name]) => !membersOf03.has(name)));
}

/** Returns the changes of the cards of an agent. */
export function rewriteOf(publicUrl: string, { slug, disabledSkills }: AgentServerDocument): CardRewrite {
  return { url: `${publicUrl}/v1/agent/${slug}`, disabledSkills };
}
