import type { EntityManager } from '../../db/open-database.ts';
import { unknownReference } from '../../http/errors.ts';
import type { GuardrailReference } from './entity.ts';

/**
 * Returns the guardrails that were named by slug or id, in the same order, each once. `workspaceId` null: guardrails of the
 * organisation. Throws AB02 for a guardrail that does not exist.
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
