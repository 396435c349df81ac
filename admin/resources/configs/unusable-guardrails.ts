import type { GatewayConfig } from '../../../core/contract/plugin/config/gateway-config.ts';
import { cannotRunOn, guardrailReferencesOf } from '../../../core/contract/plugin/guardrails/guardrail-config.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { guardrails, guardrailVersions } from '../guardrails/entity.ts';
import { workspaces } from '../workspaces/entity.ts';

/**
 * Returns one line with its path for each saved guardrail of a config that the workspace cannot use: it does not exist, does not have that
 * version, or cannot run on that side.
 */
export async function unusableGuardrails(em: EntityManager, workspaceId: string, config: GatewayConfig): Promise<string[]> {
  const references = guardrailReferencesOf(config);
  if (references.length === 0) return [];
  const { organisationId } = await em.findOneOrFail(workspaces, { id: workspaceId });
  const names = references.map(({ name }) => name);
  const found = await em.find(guardrails, {
    organisationId,
    status: 'active',
    target: 'llm',
    $and: [
      { $or: [{ workspaceId }, { workspaceId: null }] },
      { $or: [{ slug: { $in: names } }, { id: { $in: names.filter((name) => isUuid(name)) } }] },
    ],
  });
  const versions = await em.find(
    guardrailVersions,
    { organisationId, guardrailId: { $in: found.map(({ id }) => id) } },
    { fields: ['guardrailId', 'sides'] },
  );
  return references.flatMap(({ path, name, versionId, side }) => {
    const row = found.find(({ slug, id }) => slug === name || id === name);
    if (!row) return [`${path}: no guardrail ${name} in this workspace`];
    const version = versions.find(({ id, guardrailId }) => guardrailId === row.id && id === (versionId ?? row.versionId));
    if (!version) return [`${path}.guardrail_version_id: the guardrail ${name} has no such version`];
    if (version.sides.includes(side)) return [];
    return [`${path}: ${cannotRunOn(name, side)}`];
  });
}
