import type { Workspace } from '../workspaces/entity.ts';
import type { Organisation } from './entity.ts';
import { overridableSections, type SettingGroup, securityDefaults } from './setting-sections.ts';

/** Defaults if neither level has a value, by group. Keys that are missing here then have no value. */
const defaults: Partial<Record<SettingGroup, Readonly<Record<string, unknown>>>> = { securitySettings: securityDefaults };

/**
 * Copies the organisation's current values of these sections to a workspace, replacing its own. Used when the organisation allows
 * the override of a section.
 */
export function copyDown(organisation: Organisation, workspace: Workspace, sections: readonly string[]): void {
  for (const name of sections) {
    const section = overridableSections[name];
    if (!section) continue;
    const { group, keys } = section;
    const from = (organisation[group] ?? {}) as Record<string, unknown>;
    const values = keys.flatMap((key) => {
      const value = from[key] ?? defaults[group]?.[key];
      return value === undefined ? [] : [[key, value]];
    });
    const before = Object.entries(workspace[group] ?? {}).filter(([key]) => !keys.includes(key));
    workspace[group] = Object.fromEntries([...before, ...values]);
  }
}
