import { missingSettings } from '../../../core/provider-settings/missing-settings.ts';
import { declarationOf, providersWithMode } from '../../../core/providers/declarations.ts';
import { AdminError } from '../../http/errors.ts';

/**
 * Rejects an integration whose settings are incomplete or mix authentication modes. `settings` by config name; `secrets` are the
 * names of sealed and mapped ones. Throws AB01 naming each field.
 */
export function requireSettings(
  aiProviderId: string,
  settings: Readonly<Record<string, unknown>>,
  secrets: ReadonlySet<string>,
): void {
  const declaration = declarationOf(aiProviderId);
  if (!declaration) return;
  const has = (name: string): boolean => secrets.has(name) || (settings[name] !== undefined && settings[name] !== null);
  const errors = missingSettings(declaration, settings, has).map(({ setting, message }) =>
    setting === 'provider_auth_type' ? `${pathOf(setting)}: ${otherIdentities()}` : `${pathOf(setting)}: ${message}`,
  );
  if (errors.length > 0) throw new AdminError('AB01', errors[0] ?? '', errors);
}

function otherIdentities(): string {
  const ids = providersWithMode('provider_auth_type', 'wif').join(' and ');
  return `wif is for ${ids}; use vertex_auth_type wif for vertex-ai and azure_auth_mode workload for azure-openai and azure-ai`;
}

function pathOf(name: string): string {
  return name === 'api_key' ? 'key' : `configurations.${name}`;
}
