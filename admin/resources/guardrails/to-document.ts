import type { GuardrailDocument } from '../../../core/contract/protocol/documents.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { DocumentSource } from '../../define-resource.ts';
import { guardrails, guardrailVersions } from './entity.ts';
import { openSecrets, sealForGateways, withPartners } from './secrets.ts';

/**
 * Returns the document of the guardrail `<owner id>/<slug or id>` or `<owner id>/<id>/<version id>`; the owner is a workspace, or the
 * organisation for guardrails of its own. Null if there is none.
 */
export async function toGuardrailDocument(
  { database, vault, clusterKey }: DocumentSource,
  id: string,
): Promise<GuardrailDocument | null> {
  const [ownerId = '', name = '', versionId, ...rest] = id.split('/');
  if (!isUuid(ownerId) || rest.length > 0 || (versionId !== undefined && !isUuid(versionId))) return null;
  const em = database.em();
  const row = await em.findOne(guardrails, {
    ...(isUuid(name) ? { id: name } : { slug: name }),
    status: 'active',
    $or: [{ workspaceId: ownerId }, { workspaceId: null, organisationId: ownerId }],
  });
  if (!row) return null;
  const version = await em.findOne(guardrailVersions, { guardrailId: row.id, id: versionId ?? row.versionId });
  if (!version) return null;
  const { slug, organisationId, workspaceId, target } = row;
  const { checks } = version;
  const { sent: _, ...actions } = version.actions;
  const all = await withPartners(em, vault, organisationId, checks, await openSecrets(em, vault, version));
  const secrets = sealForGateways(clusterKey, version.id, all);
  const owner = { organisationId, workspaceId: workspaceId ?? null };
  return { id: row.id, slug, versionId: version.id, ...owner, target, checks, actions, secrets };
}
