import type { Identity, RequestContext } from '../contract/plugin/context.ts';
import type { DocumentReader } from '../contract/plugin/plugin.ts';
import { hasAccess } from '../contract/protocol/access-list.ts';
import type { AgentServerDocument } from '../contract/protocol/agents/agents.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';

/** Returns the agent that the path names. Throws GatewayError `not_found` and, for callers without access, `forbidden`. */
export async function findAgent(ctx: RequestContext, documents: DocumentReader): Promise<AgentServerDocument> {
  const identity = ctx.identity as Identity;
  const slug = ctx.endpoint?.pathParams?.agent;
  const document = await documents.get('agent-server', `${identity.workspaceId}/${slug}`);
  if (!document) throw new GatewayError('not_found', { message: `Agent '${slug}' not found` });
  if (hasAccess(document.access, identity.userId)) return document;
  throw new GatewayError('forbidden', { message: 'You do not have access to this agent' });
}
