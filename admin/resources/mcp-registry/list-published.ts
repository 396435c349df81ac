import type { FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '../../db/open-database.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { type McpServer, mcpServers, mcpServerUsers } from '../mcp-servers/entity.ts';
import { type McpVirtualServer, mcpVirtualServers } from '../mcp-virtual-servers/entity.ts';

export interface Published {
  readonly organisationId: string;
  /** Null: every workspace of the organisation. */
  readonly workspaceId: string | null;
  /** Callers see only servers that this user may use; null: a caller without a user. */
  readonly userId: string | null;
  /** True for organisation keys, which see all servers. */
  readonly seesAll: boolean;
  readonly search: string | undefined;
  readonly updatedSince: Date | undefined;
  /** Id of the last server of the page before; null for the first page. */
  readonly after: string | null;
}

/** Returns servers and virtual servers in the order of their ids, at most `limit`. */
export async function listPublished(
  em: EntityManager,
  asked: Published,
  limit: number,
): Promise<(McpServer | McpVirtualServer)[]> {
  const { organisationId, workspaceId, search, updatedSince, after } = asked;
  const where = {
    organisationId,
    status: 'active' as const,
    ...(workspaceId === null ? {} : { workspaceId }),
    ...(updatedSince === undefined ? {} : { lastUpdatedAt: { $gte: updatedSince } }),
    ...(after === null ? {} : { id: { $gt: after } }),
  };
  const page = { limit, orderBy: { id: 'asc' } } as const;
  const found = searchIn(search, 'name', 'slug');
  const servers = await em.find(mcpServers, { $and: [where, found, await usable(em, asked)] }, page);
  const virtual = await em.find(mcpVirtualServers, { $and: [where, found] }, page);
  return [...servers, ...virtual].sort((one, other) => (one.id < other.id ? -1 : 1)).slice(0, limit);
}

/** The servers that the caller may use, by their access rules. */
async function usable(em: EntityManager, { organisationId, userId, seesAll }: Published): Promise<FilterQuery<McpServer>> {
  if (seesAll) return {};
  const decided = userId === null ? [] : await em.find(mcpServerUsers, { organisationId, userId });
  const idsOf = (enabled: boolean) => decided.filter((one) => one.enabled === enabled).map(({ serverId }) => serverId);
  return {
    $or: [
      { defaultUserAccess: 'allow', id: { $nin: idsOf(false) } },
      { defaultUserAccess: 'deny', id: { $in: idsOf(true) } },
    ],
  };
}
