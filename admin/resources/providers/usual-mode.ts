import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { usualModes } from '../../../core/provider-settings/missing-settings.ts';
import { declarationOf } from '../../../core/providers/declarations.ts';

/** Adds the authentication mode that older clients leave out, inferred from what they send. Integrations must name theirs. */
export function withUsualMode(aiProviderId: string, hasKey: boolean, settings: JsonObject): JsonObject {
  const declaration = declarationOf(aiProviderId);
  if (!declaration) return settings;
  const has = (name: string): boolean => (name === 'api_key' ? hasKey : settings[name] !== undefined);
  return { ...settings, ...usualModes(declaration, has) };
}
