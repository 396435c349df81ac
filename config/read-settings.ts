import { loadSettings, SettingsError } from './load-settings.ts';
import { readSecretFiles } from './secret-files.ts';
import type { Settings } from './settings.ts';

/** Returns the settings of this process, which the supervisor has started. If they are not valid, writes a line for each issue to standard error and exits with `exitCode`. */
export function readSettings(exitCode: number): Settings {
  try {
    return loadSettings(readSecretFiles(process.env, { isChild: true }));
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.issues.join('\n')}\n`);
    process.exit(exitCode);
  }
}
