import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';
import type { OlderColumns } from '../../../core/provider-settings/declaration.ts';
import { olderSettingNames, olderTables, storedSettingNames } from '../../../core/providers/declarations.ts';
import { invalid } from '../../http/errors.ts';

/** Keys of tables, which may be sent without a table. */
const tableKeys = [...olderTables.values()].map(({ key }) => key);

/** Other spellings of the fields of a provider body, as older clients send them. */
const fields: Readonly<Record<string, string>> = {
  // Older names in the form of a client that writes every field of a body in snake case.
  ...Object.fromEntries([...Object.keys(olderSettingNames), ...tableKeys].map((name) => [snakeOf(name), name])),
  integrationId: 'integration_id',
  workspaceId: 'workspace_id',
  organisationId: 'organisation_id',
  aiProviderId: 'ai_provider_id',
  expiresAt: 'expires_at',
  usageLimits: 'usage_limits',
  rateLimits: 'rate_limits',
  resetUsage: 'reset_usage',
  secretMappings: 'secret_mappings',
  ai_model_id: 'aiModelId',
};

/** Aliases of the fields of a budget. */
const limitFields: Readonly<Record<string, string>> = {
  creditLimit: 'credit_limit',
  alertThreshold: 'alert_threshold',
  periodicReset: 'periodic_reset',
  periodicResetDays: 'periodic_reset_days',
  nextUsageResetAt: 'next_usage_reset_at',
};

/** Aliases of the fields of a mapping. */
const mappingFields: Readonly<Record<string, string>> = {
  targetField: 'target_field',
  secretReferenceId: 'secret_reference_id',
  secretKey: 'secret_key',
  valueFormat: 'value_format',
};

/** Inline credentials in camel case, with the corresponding integration setting. */
const credentials: Readonly<Record<string, string>> = {
  customHeaders: 'custom_headers',
  ...Object.fromEntries(storedSettingNames.map((name) => [camelOf(name), name])),
  ...olderSettingNames,
};

/** Names of inline credentials as they may be sent, snake_case ones included. */
export const credentialNames: readonly string[] = [
  ...new Set([...Object.keys(olderSettingNames), ...Object.keys(credentials)]),
  ...new Set(Object.values(credentials)),
  ...tableKeys,
];

/** Reports whether a name of an inline credential is the camel case form of a setting and no name of older clients. */
export function isOtherSpelling(name: string): boolean {
  return snakeOf(name) === credentials[name] && !Object.hasOwn(olderSettingNames, name);
}

function camelOf(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function snakeOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * Returns the body with the aliases of fields resolved. A field given in both spellings stays, so that it is rejected as unknown.
 */
export function resolveFieldAliases(body: unknown): unknown {
  const out = renamed(body, fields);
  if (!isObject(out)) return out;
  if (isObject(out.usage_limits)) out.usage_limits = renamed(out.usage_limits, limitFields);
  if (Array.isArray(out.secret_mappings)) out.secret_mappings = out.secret_mappings.map(mappingWithAliases);
  // A single rate limit may be sent without a list around it.
  if (isObject(out.rate_limits)) out.rate_limits = [out.rate_limits];
  return out;
}

function mappingWithAliases(sent: unknown): unknown {
  const out = renamed(sent, mappingFields);
  if (!isObject(out) || typeof out.target_field !== 'string') return out;
  const target = out.target_field.replace(/^model_config\.(.+)$/, (_, name: string) => `model_config.${settingOf(name)}`);
  return { ...out, target_field: target };
}

function renamed(body: unknown, names: Readonly<Record<string, string>>): unknown {
  if (!isObject(body)) return body;
  const out: JsonObject = {};
  for (const [name, value] of Object.entries(body)) {
    const target = Object.hasOwn(names, name) ? names[name] : undefined;
    out[target !== undefined && !Object.hasOwn(body, target) ? target : name] = value;
  }
  return out;
}

/** Returns the integration setting for an inline credential. */
export function settingOf(name: string): string {
  return credentials[name] ?? name;
}

/** Returns the inline credentials of a body as configurations of an integration. */
export function configurationsOf(body: Readonly<JsonObject>): JsonObject {
  const isSent = (name: string): boolean => body[name] !== undefined && body[name] !== null;
  const tables = [...olderTables].filter(([setting, { key }]) => isSent(olderTableName(setting)) || isSent(key));
  const inTables = new Set(tables.flatMap(([setting, { names }]) => [olderTableName(setting), ...Object.keys(names)]));
  const out: JsonObject = {};
  for (const name of credentialNames) if (isSent(name) && !inTables.has(name)) out[settingOf(name)] = body[name];
  for (const [setting, columns] of tables) out[setting] = rowsOf(olderTableName(setting), columns, body);
  return out;
}

/** Converts a table with older names of columns, or its key sent alone, which is a table of one row. */
function rowsOf(table: string, columns: OlderColumns, body: Readonly<JsonObject>): JsonObject[] {
  const rows = body[table] ?? [
    Object.fromEntries(
      credentialNames.map((name) => [name, body[name]] as const).filter(([name]) => Object.hasOwn(columns.names, name)),
    ),
  ];
  if (!Array.isArray(rows)) throw invalid(`${table}: a list is expected`);
  return rows.map((row, index) => {
    if (!isObject(row)) throw invalid(`${table}[${index}]: an object is expected`);
    return withNewNames(row, columns);
  });
}

/** Returns the older name of a table. */
export function olderTableName(setting: string): string {
  return Object.keys(olderSettingNames).find((name) => olderSettingNames[name] === setting) ?? setting;
}

function withNewNames(row: Readonly<JsonObject>, { names, key, sameAsKey }: OlderColumns): JsonObject {
  const out: JsonObject = {};
  for (const [older, name] of Object.entries(names)) {
    out[name] = row[older] ?? (sameAsKey.includes(older) ? row[key] : undefined);
  }
  for (const [name, value] of Object.entries(row)) if (!Object.hasOwn(names, name)) out[name] = value;
  return out;
}
