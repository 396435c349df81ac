import { allItems } from '../../../core/contract/protocol/mcp/mcp-virtual.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { WorkspaceTenant } from '../../db/tenant.ts';
import { asReference, invalid } from '../../http/errors.ts';
import { findMcpServer } from '../mcp-servers/service.ts';
import type { McpVirtualServer, SelectedPrompt, SelectedResource, SelectedTool } from './entity.ts';
import type { SentPrompts, SentResources, SentTools } from './schema.ts';

interface SentSelection {
  readonly tools?: SentTools | undefined;
  readonly prompts?: SentPrompts | undefined;
  readonly resources?: SentResources | undefined;
}

export type StoredSelection = Pick<McpVirtualServer, 'tools' | 'prompts' | 'resources'>;

/**
 * Returns the selections as they are stored. Lists that were not sent stay as in `before`. Throws AB02 for an unknown server, and AB01 for
 * a name that is used twice and if nothing is selected.
 */
export async function toSelection(
  em: EntityManager,
  { organisationId, workspaceId }: WorkspaceTenant,
  sent: SentSelection,
  before: StoredSelection,
): Promise<StoredSelection> {
  const known = new Map<string, string>();
  const serverId = async (idOrSlug: string, at: string): Promise<string> => {
    const reference = asReference(`${at}.mcp_server_id`, 'MCP server');
    const id = known.get(idOrSlug) ?? (await findMcpServer(em, { organisationId, workspaceId }, idOrSlug).catch(reference)).id;
    known.set(idOrSlug, id);
    return id;
  };
  const tools = sent.tools && (await toolsOf(sent.tools, serverId));
  const prompts = sent.prompts && (await promptsOf(sent.prompts, serverId));
  const resources = sent.resources && (await resourcesOf(sent.resources, serverId));
  const all = {
    tools: tools ?? before.tools,
    prompts: prompts ?? before.prompts,
    resources: resources ?? before.resources,
  };
  if (Object.values(all).every((items) => items.length === 0)) {
    throw invalid('tools: select at least one tool, prompt or resource');
  }
  return all;
}

type FindServer = (idOrSlug: string, at: string) => Promise<string>;

async function toolsOf(sent: SentTools, serverId: FindServer): Promise<SelectedTool[]> {
  const select = selecting('tool', serverId);
  const tools: SelectedTool[] = [];
  for (const [index, one] of sent.entries()) {
    tools.push({ tool: one.tool, arguments: one.arguments ?? {}, ...(await select(one, one.tool, index)) });
  }
  return tools;
}

async function promptsOf(sent: SentPrompts, serverId: FindServer): Promise<SelectedPrompt[]> {
  const select = selecting('prompt', serverId);
  const prompts: SelectedPrompt[] = [];
  for (const [index, one] of sent.entries()) {
    prompts.push({ prompt: one.prompt, arguments: one.arguments ?? {}, ...(await select(one, one.prompt, index)) });
  }
  return prompts;
}

/** Returns a function that checks the items of one list in turn and returns what tools and prompts have in common. It throws AB01 and AB02. */
function selecting(kind: 'tool' | 'prompt', serverId: FindServer) {
  const requireNew = uniqueNames(kind);
  return async (one: Renaming & { readonly mcp_server_id: string }, item: string, index: number) => {
    const at = `${kind}s[${index}]`;
    const selected = { serverId: await serverId(one.mcp_server_id, at), ...renamed(one, item, kind, at) };
    requireNew(selected.serverId, item, selected.name, at);
    return selected;
  };
}

async function resourcesOf(sent: SentResources, serverId: FindServer): Promise<SelectedResource[]> {
  const requireNew = uniqueNames('resource');
  const resources: SelectedResource[] = [];
  for (const [index, { mcp_server_id, resource, ...one }] of sent.entries()) {
    const at = `resources[${index}]`;
    if (resource === allItems) requireAbsent(one, 'resource', at);
    const id = await serverId(mcp_server_id, at);
    requireNew(id, resource, resource, at);
    resources.push({ serverId: id, resource, name: one.name ?? null, description: one.description ?? null });
  }
  return resources;
}

interface Renaming {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly prefix?: string | null | undefined;
}

/** Returns the name that clients see, and the description. Throws AB01 for members that do not fit. */
function renamed({ prefix, ...one }: Renaming, item: string, kind: string, at: string) {
  if (item === allItems) requireAbsent(one, kind, at);
  else if (prefix != null) throw invalid(`${at}.prefix: only ${kind} * (all ${kind}s of a server) has a prefix. Use name`);
  return { name: item === allItems ? (prefix ?? '') : (one.name ?? item), description: one.description ?? null };
}

/** Throws AB01 for a member that all items of a server cannot have. A reply may be sent back, so null and {} are absent. */
function requireAbsent({ name, description, arguments: fixed = {} }: Renaming, kind: string, at: string): void {
  const sent = { name, description, arguments: Object.keys(fixed).length === 0 ? null : fixed };
  const member = Object.entries(sent).find(([, value]) => value != null)?.[0];
  if (member !== undefined) throw invalid(`${at}.${member}: not possible with ${kind} * (all ${kind}s of a server)`);
}

/** Returns a check that throws AB01 for the second selection of one name. */
function uniqueNames(kind: 'tool' | 'prompt' | 'resource') {
  const names = new Set<string>();
  return (serverId: string, item: string, name: string, at: string): void => {
    const key = item === allItems ? `${allItems} ${serverId}` : name;
    const isNew = !names.has(key);
    names.add(key);
    if (isNew) return;
    if (item === allItems) throw invalid(`${at}.${kind}: all ${kind}s of this server are selected already`);
    if (kind === 'resource') throw invalid(`${at}.resource: another resource has the URI ${name.slice(0, 128)}`);
    throw invalid(`${at}.name: another ${kind} is named ${name.slice(0, 128)}. Choose a name of its own`);
  };
}
