import { isUsableIn } from '../../access/workspace-sharing.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { type Integration, integrationWorkspaces } from '../integrations/entity.ts';
import type { Provider } from './entity.ts';

/** Returns the ids of the providers whose integration is active and usable in their workspace. `behind`: the integrations by id. */
export async function usableProviders(
  em: EntityManager,
  rows: readonly Provider[],
  behind: ReadonlyMap<string, Integration>,
): Promise<ReadonlySet<string>> {
  const where = {
    integrationId: { $in: [...behind.keys()] },
    workspaceId: { $in: [...new Set(rows.map((row) => row.workspaceId))] },
  };
  const decided = rows.length === 0 ? [] : await em.find(integrationWorkspaces, where);
  const decisions = new Map(decided.map((one) => [`${one.integrationId}/${one.workspaceId}`, one]));
  const usable = rows.filter(({ integrationId, workspaceId }) => {
    const integration = behind.get(integrationId);
    if (integration?.status !== 'active') return false;
    return isUsableIn(integration, workspaceId, decisions.get(`${integrationId}/${workspaceId}`) ?? null);
  });
  return new Set(usable.map((row) => row.id));
}
