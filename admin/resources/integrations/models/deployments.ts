import type { ModelAlias } from '../../../../core/provider-settings/declaration.ts';
import { declarationOf } from '../../../../core/providers/declarations.ts';
import type { Integration } from '../entity.ts';

/**
 * Returns the names that the settings of an integration give to models. For Azure's deployments, both the alias and the
 * deployment's name.
 */
export function deploymentsOf({
  aiProviderId,
  configurations,
}: Pick<Integration, 'aiProviderId' | 'configurations'>): ModelAlias[] {
  return Object.entries(declarationOf(aiProviderId)?.settings ?? {}).flatMap(([name, { aliases }]) =>
    aliases && configurations[name] ? aliases(configurations[name]) : [],
  );
}
