import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { AdminError } from '../../http/errors.ts';
import { apiKeys } from '../api-keys/entity.ts';
import { logReadScopes, logVisibility } from '../logs/log-visibility.ts';
import type { PromptTestRun } from './entity.ts';

/** True if the caller may read the logs of the calls of a run, and with them its outputs. */
export async function seesOutputs(em: EntityManager, actor: Actor, run: PromptTestRun): Promise<boolean> {
  if (!logReadScopes.some((scope) => actor.scopes.has(scope))) return false;
  const { organisationId, workspaceId, keyId } = run;
  try {
    const { ofUser, hiddenWorkspaces } = await logVisibility(em, actor, workspaceId);
    if (hiddenWorkspaces.includes(workspaceId)) return false;
    return ofUser === null || (await em.count(apiKeys, { id: keyId, organisationId, userId: ofUser })) === 1;
  } catch (error) {
    if (error instanceof AdminError && error.code === 'AB03') return false;
    throw error;
  }
}
