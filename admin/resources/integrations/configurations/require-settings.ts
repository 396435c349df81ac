import { missingSettings } from '../../../../core/provider-settings/missing-settings.ts';
import { sharedAuth } from '../../../../core/provider-settings/shared-settings.ts';
import { declarationOf, federationModes } from '../../../../core/providers/declarations.ts';
import { AdminError } from '../../../http/errors.ts';

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
    setting === sharedAuth.setting ? `${pathOf(setting)}: ${federationHint()}` : `${pathOf(setting)}: ${message}`,
  );
  if (errors.length > 0) throw new AdminError('AB01', errors[0] ?? '', errors);
}

/** The providers that federate with the common setting, and the settings of the others. */
function federationHint(): string {
  const modes = federationModes();
  const common = modes.filter(({ setting }) => setting === sharedAuth.setting);
  const others = modes.filter(({ setting }) => setting !== sharedAuth.setting);
  const hints = others.map(({ setting, mode, ids }) => `${setting} ${mode} for ${ids.join(' and ')}`);
  return `${common.map(({ mode, ids }) => `${mode} is for ${ids.join(' and ')}`).join(', ')}; use ${hints.join(' and ')}`;
}

function pathOf(name: string): string {
  return name === 'api_key' ? 'key' : `configurations.${name}`;
}
