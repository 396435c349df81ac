import * as v from 'valibot';
import { scopesByType, unusedScopes } from '../../access/scopes.ts';
import { withoutEffect } from '../../http/reply/unused-settings.ts';
import { noControlCharacters } from '../../http/request/schemas.ts';
import { securityDefaults, securitySections } from './setting-sections.ts';

/** Name of an organisation or a workspace. */
export const shortName = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(128, 'at most 128 characters'),
  noControlCharacters,
);

/** 0 and 1 in requests and replies. True and false are accepted for them. */
export const zeroOrOne = v.pipe(
  v.union([v.boolean(), v.literal(0), v.literal(1)], '0, 1, false or true is expected'),
  v.transform((value): 0 | 1 => (value ? 1 : 0)),
);

const daysOfPeriod: Readonly<Record<string, number | null>> = { weekly: 7, monthly: 30, '': null };

const rotationPeriod = v.nullable(
  v.pipe(
    v.union(
      [v.picklist(['weekly', 'monthly', '']), v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(365))],
      'weekly, monthly, days from 1 to 365, or "" is expected',
    ),
    v.transform((value): number | null => (typeof value === 'number' ? value : (daysOfPeriod[value] ?? null))),
  ),
);

const autoCreateScopes = v.pipe(
  v.array(
    v.pipe(
      v.string(),
      v.check((scope) => scopesByType['workspace-user'].has(scope), 'not a scope of workspace-user keys'),
    ),
  ),
  v.maxLength(500, 'at most 500 scopes'),
  v.transform((scopes) => [...new Set(scopes)]),
);

const seconds = (least: number, most: number) =>
  v.nullable(
    v.pipe(
      v.number(),
      v.integer('a whole number is expected'),
      v.minValue(least, `at least ${least} seconds`),
      v.maxValue(most, `at most ${most} seconds`),
    ),
  );

/** Settings that organisations and workspaces both have. Null clears. */
export const sharedSettingEntries = {
  debug_log: v.optional(zeroOrOne),
  debug_log_error_body: v.optional(zeroOrOne),
  user_api_key_rotation_period: v.optional(rotationPeriod),
  user_api_key_ttl: v.optional(seconds(300, 315_360_000)),
  user_api_key_count: v.optional(
    v.nullable(v.pipe(v.number(), v.integer('a whole number is expected'), v.minValue(1, 'at least 1'), v.maxValue(10_000))),
  ),
  user_api_key_auto_create: v.optional(v.boolean()),
  user_api_key_auto_create_scopes: v.optional(withoutEffect(autoCreateScopes, unusedScopes)),
};

/** Seconds; the ceiling of the reference. */
export const cacheTtl = seconds(60, 25_923_000);

/** Least similarity of hits of the semantic cache. */
export const cacheSimilarity = v.nullable(
  v.pipe(v.number(), v.minValue(0, 'a number from 0 to 1 is expected'), v.maxValue(1, 'a number from 0 to 1 is expected')),
);

export const sessionTtl = seconds(900, 31_536_000);

/** Settings of resources that this version does not have. */
const unusedSecurity: ReadonlySet<string> = new Set([
  ...Object.keys(securitySections.analytics),
  'managersWriteWsMcpIntegrations',
  'managersWriteMcpServers',
]);

const securityEntries = Object.fromEntries(
  Object.keys(securityDefaults).map((name) => [
    name,
    v.optional(unusedSecurity.has(name) ? withoutEffect(v.boolean()) : v.boolean()),
  ]),
) as unknown as Record<keyof typeof securityDefaults, v.OptionalSchema<v.BooleanSchema<undefined>, undefined>>;

export const securitySettingsBody = v.strictObject(securityEntries);

export const dataPlaneSecuritySettingsBody = v.strictObject({ block_inline_config: v.optional(v.boolean()) });

/** Fields of log exports that can be denied. */
const exportFields = [
  'id',
  'trace_id',
  'created_at',
  'request',
  'response',
  'ai_org',
  'ai_model',
  'req_units',
  'res_units',
  'total_units',
  'request_url',
  'cost',
  'cost_currency',
  'response_time',
  'response_status_code',
  'config',
  'prompt_slug',
  'metadata',
] as const;

export const exportSettingsBody = v.strictObject({
  deniedFields: v.nullish(
    v.pipe(
      v.array(v.picklist(exportFields, 'not a field of log exports')),
      v.transform((fields) => [...new Set(fields)]),
    ),
  ),
});

/** Reply schemas of the same settings; strict. */
export const securitySettingsReply = v.strictObject(
  Object.fromEntries(Object.keys(securityDefaults).map((name) => [name, v.boolean()])),
);
export const dataPlaneSecuritySettingsReply = v.strictObject({ block_inline_config: v.boolean() });
export const exportSettingsReply = v.strictObject({ deniedFields: v.array(v.string()) });
export const sharedSettingReplyEntries = {
  debug_log: v.picklist([0, 1]),
  debug_log_error_body: v.picklist([0, 1]),
  user_api_key_rotation_period: v.nullable(v.number()),
  user_api_key_ttl: v.nullable(v.number()),
  user_api_key_count: v.nullable(v.number()),
  user_api_key_auto_create: v.boolean(),
  user_api_key_auto_create_scopes: v.array(v.string()),
};
