import type { EntityManager } from '../../db/open-database.ts';
import { unknownReference } from '../../http/errors.ts';
import type { GuardrailReference } from './entity.ts';

/**
 * The guardrails that were named by slug or id, in the same order, each once. `workspaceId` null: guardrails of the
 * organisation. Throws AB02 for one that does not exist; as long as there are no guardrails, none does.
 */
export async function checkGuardrails(
  _em: EntityManager,
  _tenant: { readonly organisationId: string; readonly workspaceId: string | null },
  named: readonly string[],
  path: string,
): Promise<GuardrailReference[]> {
  if (named.length > 0) throw unknownReference(`${path}[0]`, 'Guardrail');
  return [];
}
