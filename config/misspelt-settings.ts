import { nearestName } from './did-you-mean.ts';
import type { Environment } from './load-settings.ts';
import { secretNames } from './secret-files.ts';
import { settingsTable } from './settings-table.ts';

/**
 * Returns one line per environment variable that is not a setting but resembles one, because `GATEWAY_PROCESES` would otherwise
 * be ignored without notice. Names shorter than six characters are not checked, because too many foreign variables are close to
 * them.
 */
export function misspeltSettings(env: Environment): string[] {
  const ours = Object.values(settingsTable).map((row) => row.name);
  const names = [...ours, ...secretNames.map((name) => `${name}_FILE`)];
  const known = new Set(names);
  const isGiven = (stem: string) => [stem, `${stem}_FILE`].some((variable) => env[variable] !== undefined);
  const lines: string[] = [];
  for (const name of Object.keys(env)) {
    if (known.has(name) || name.length < 6) continue;
    const stem = name.replace(/_FILE$/, '');
    if (stem !== name && ours.includes(stem)) {
      lines.push(`${name}: unknown setting; ${stem} cannot be given as a file`);
      continue;
    }
    const meant = nearestName(name, names, 6);
    // Other programs read HTTP_PROXY, which is often set together with HTTPS_PROXY.
    if (meant !== null && !isGiven(meant.replace(/_FILE$/, ''))) lines.push(`${name}: unknown setting; did you mean ${meant}?`);
  }
  return lines;
}
