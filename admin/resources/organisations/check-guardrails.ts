import { nearestName } from '../../../config/did-you-mean.ts';
import { cannotRunOn, type GuardrailSide } from '../../../core/contract/plugin/guardrails/guardrail-config.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant } from '../../db/tenant.ts';
import { invalid, unknownReference } from '../../http/errors.ts';
import { guardrails, guardrailVersions } from '../guardrails/entity.ts';
import type { GuardrailReference } from './entity.ts';

/**
 * Returns the guardrails that were named by slug or id, in the same order, each once. `workspaceId` null: guardrails of the organisation;
 * otherwise also those of the workspace. Throws AB02 for a guardrail that does not exist, and AB01 for one that cannot run on this side.
 */
export async function checkGuardrails(
  em: EntityManager,
  { organisationId, workspaceId }: Tenant,
  named: readonly string[],
  side: GuardrailSide,
  path: string,
  target: 'llm' | 'mcp_tools' = 'llm',
): Promise<GuardrailReference[]> {
  const usable = {
    ...{ organisationId, status: 'active' as const, target },
    $or: [{ workspaceId: null }, ...(workspaceId === null ? [] : [{ workspaceId }])],
  };
  const known = new Map<string, GuardrailReference>();
  for (const [index, name] of named.entries()) {
    const row = await em.findOne(guardrails, { ...(isUuid(name) ? { id: name } : { slug: name }), ...usable });
    if (!row) {
      const slugs = (await em.find(guardrails, usable, { limit: 1_000 })).map(({ slug }) => slug);
      throw unknownReference(`${path}[${index}]`, `Guardrail ${name}`, nearestName(name, slugs));
    }
    const { sides } = await em.findOneOrFail(guardrailVersions, { organisationId, id: row.versionId });
    if (!sides.includes(side)) {
      throw invalid(`${path}[${index}]: ${cannotRunOn(row.slug, side)}`);
    }
    known.set(row.id, { id: row.id, slug: row.slug });
  }
  return [...known.values()];
}
