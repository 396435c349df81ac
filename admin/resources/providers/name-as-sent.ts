import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { olderTables } from '../../../core/providers/declarations.ts';
import { AdminError } from '../../http/errors.ts';
import { credentialNames, olderTableName, settingOf } from './aliases.ts';

/**
 * Runs `work` on the integration behind a provider. If it refuses a setting, renames the setting in the error to the name used in
 * the provider's body.
 */
export async function nameAsSent<T>(body: Readonly<JsonObject>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AdminError) || error.errors === null) throw error;
    const errors = error.errors.map((error) => inBody(error, body));
    throw new AdminError(error.code, errors[0] ?? error.message, errors, error.status);
  }
}

function inBody(error: string, body: Readonly<JsonObject>): string {
  return error.replace(/configurations\.([a-z0-9_]+)(\[\d+\]\.?)?([a-z0-9_]*)/g, (_, setting: string, row = '', field = '') => {
    const columns = olderTables.get(setting);
    if (!columns) return nameOf(setting, body);
    const isTable = body[olderTableName(setting)] !== undefined;
    const older = Object.keys(columns.names).find((name) => columns.names[name] === field);
    if (body[columns.key] !== undefined && !isTable) return older ?? columns.key;
    return `${nameOf(setting, body)}${row}${isTable ? (older ?? field) : field}`;
  });
}

/** Returns the name as sent, else the older name of the setting. */
function nameOf(setting: string, body: Readonly<JsonObject>): string {
  const names = credentialNames.filter((name) => settingOf(name) === setting);
  return names.find((name) => body[name] !== undefined && body[name] !== null) ?? names[0] ?? setting;
}
