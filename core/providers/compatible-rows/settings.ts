import * as v from 'valibot';
import type { ProviderSettings } from '../../contract/provider/provider.ts';
import { GatewayError } from '../../contract/values/errors.ts';

/** Settings that are part of an address: one label of a host name or one segment of a path, and nothing else. */
const part = (expected: string) =>
  v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/, expected)));

export const databricksSettings = { databricks_workspace: part('the first label of <workspace>.cloud.databricks.com') };
export const workersAiSettings = { workers_ai_account_id: part('an account id') };
export const cortexSettings = {
  // An account's locator may have its region and cloud behind it: `xy12345.us-east-2.aws`.
  snowflake_account: v.optional(
    v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9][A-Za-z0-9_-]*){0,2}$/, 'the identifier of an account')),
  ),
};
export const byteplusSettings = { byteplus_region: part('a region such as ap-southeast-1') };
export const huggingfaceSettings = {
  huggingface_base_url: v.optional(v.pipe(v.string(), v.regex(/^https?:\/\/[^\s?#@]+$/i, 'the base URL of an endpoint'))),
};

/** The value of a setting without which there is no address; throws `invalid_config` naming it. */
export function neededFor(id: string, settings: ProviderSettings, name: string): string {
  const value = settings[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new GatewayError('invalid_config', { message: `${name}: required by ${id}`, param: name });
}
