import type { AuthModes, ProviderDeclaration } from './declaration.ts';

/** One setting that is missing, or that the authentication mode does not use, with the reason. */
export interface SettingProblem {
  /** Config name; `api_key` is the integration's `key`. */
  readonly setting: string;
  readonly message: string;
}

/** Problems of settings that are valid one by one. `has` reports values that are stored elsewhere too: secrets and mapped fields. */
export function missingSettings(
  { id, auth, requires }: ProviderDeclaration,
  settings: Readonly<Record<string, unknown>>,
  has: (name: string) => boolean,
): SettingProblem[] {
  const problems: SettingProblem[] = [];
  const need = (names: readonly string[], message: string): void => {
    for (const setting of names) if (!has(setting)) problems.push({ setting, message });
  };
  for (const { setting, required } of auth) if (required) need([setting], `required for ${id}`);
  for (const { needs, when, unless } of requires) {
    if (when !== undefined || (unless !== undefined && has(unless))) continue;
    need(needs, `required for ${id}${unless === undefined ? '' : ` without ${unless === 'api_key' ? 'key' : unless}`}`);
  }
  for (const modes of auth) problems.push(...modeProblems(modes, settings[modes.setting], has));
  // Checked after the modes, which give the more specific reason.
  for (const { needs, when } of requires) if (when !== undefined && has(when)) need(needs, `required with ${when}`);
  if (settings.is_key_required === true) need(['api_key'], 'required with is_key_required true');
  return problems.filter(({ setting }, index) => problems.findIndex((other) => other.setting === setting) === index);
}

function modeProblems({ setting, modes }: AuthModes, value: unknown, has: (name: string) => boolean): SettingProblem[] {
  if (typeof value !== 'string') return [];
  const mode = modes[value];
  if (!mode) return [{ setting, message: `${value} is not available for this provider type` }];
  const missing = (mode.needs ?? []).filter((name) => !has(name));
  const refused = (mode.refuses ?? []).filter(has);
  return [
    ...missing.map((name) => ({ setting: name, message: `required with ${setting} ${value}` })),
    ...refused.map((name) => ({ setting: name, message: `not used with ${setting} ${value}` })),
  ];
}

/** The authentication mode that a setting implies if none is set. Older clients leave it out. */
export function usualModes({ auth }: ProviderDeclaration, has: (name: string) => boolean): Record<string, string> {
  const found = auth.flatMap(({ setting, usual = [] }) => {
    const mode = has(setting) ? undefined : usual.find(([, name]) => name === null || has(name));
    return mode ? [[setting, mode[0]] as const] : [];
  });
  return Object.fromEntries(found);
}
