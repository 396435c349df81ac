import { readFileSync } from 'node:fs';
import { type Environment, SettingsError } from './load-settings.ts';
import { settingsTable } from './settings-table.ts';

/** Names of the settings that may hold a credential. Each may be given as a file in `<name>_FILE`. */
export const secretNames: readonly string[] = Object.values(settingsTable)
  .filter((row) => row.secret)
  .map((row) => row.name);

/**
 * Settings with a password that is used again for each connection. Processes get the path of the file besides its content, so that
 * new connections and restarted processes use a password that has changed.
 */
const connectionNames: readonly string[] = [settingsTable.databaseUrl.name, settingsTable.natsUrl.name];

const charsMax = 65_536;

/** Settings that other programs read in lower case too. */
const lowerCaseNames: readonly string[] = [settingsTable.httpsProxy.name, settingsTable.noProxy.name];

/**
 * Returns the environment with the content of each `<name>_FILE` under the name itself, without white space around it, and with `https_proxy`
 * and `no_proxy` in upper case. The paths of DATABASE_URL_FILE and NATS_URL_FILE stay. Throws SettingsError with all errors; no line has the content of a file.
 * `isChild`: the environment is from the supervisor, so that a file of these two stands beside the content that it had at the start.
 */
export function readSecretFiles(env: Environment, { isChild = false } = {}): Environment {
  const filled: Record<string, string | undefined> = { ...env };
  for (const name of lowerCaseNames) if (!env[name]?.trim()) filled[name] = env[name.toLowerCase()];
  const issues: string[] = [];
  for (const name of secretNames) {
    const variable = `${name}_FILE`;
    const path = env[variable]?.trim();
    // Not deleted: `cluster.fork` adds the variables of the supervisor, and leaves out those that are undefined here.
    const stays = path !== undefined && path !== '' && connectionNames.includes(name);
    if (variable in env && !stays) filled[variable] = undefined;
    if (!path) continue;
    if (stays && isChild && env[name]?.trim()) {
      filled[name] = readSecretFile(path) ?? env[name];
      continue;
    }
    if (env[name]?.trim()) {
      issues.push(`${variable}: ${name} is set as well, expected one of them`);
      continue;
    }
    const found = read(path);
    if ('text' in found) filled[name] = found.text;
    else
      issues.push(
        `${variable}: got ${JSON.stringify(path)}, expected the path of a readable file with the value of ${name} (${found.reason})`,
      );
  }
  if (issues.length > 0) throw new SettingsError(issues);
  return filled;
}

/** Returns the content of the file of a secret without white space around it; null if it cannot be read or is empty. */
export function readSecretFile(path: string): string | null {
  const found = read(path);
  return 'text' in found ? found.text : null;
}

/** Returns a function that reads NATS_URL from its file; null if it is not from a file. */
export function natsUrlReader({ natsUrlFile }: { readonly natsUrlFile: string | null }): (() => string | null) | null {
  return natsUrlFile === null ? null : () => readSecretFile(natsUrlFile);
}

function read(path: string): { readonly text: string } | { readonly reason: string } {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    return { reason: (error as Error).message };
  }
  if (text === '') return { reason: 'it is empty' };
  return text.length > charsMax ? { reason: `it has more than ${charsMax} characters` } : { text };
}
