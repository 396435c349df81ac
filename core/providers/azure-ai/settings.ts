import * as v from 'valibot';
import { azureIdentitySettings } from '../../cloud-auth/azure-identity.ts';
import type { ProviderSettings } from '../../contract/provider/provider.ts';

/** Part of a host name, so nothing but a plain label will do. */
const label = v.pipe(v.string(), v.regex(/^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/, 'one label of a host name'));

/** Settings of `azure-ai`, under their config names. */
export const settings = v.pipe(
  v.object({
    custom_host: v.optional(v.string()),
    azure_foundry_url: v.nullish(v.pipe(v.string(), v.regex(/^https?:\/\/[^\s#@]+$/i, 'the URL of a Foundry resource'))),
    azure_deployment_name: v.nullish(v.pipe(v.string(), v.regex(/^[\w.-]{1,128}$/, 'the name of a deployment'))),
    azure_deployment_type: v.nullish(v.picklist(['serverless', 'managed'], 'serverless or managed')),
    azure_endpoint_name: v.nullish(label),
    azure_region: v.nullish(label),
    azure_api_version: v.nullish(
      v.pipe(
        v.string(),
        v.regex(/^(v1|preview|\d{4}-\d{2}-\d{2}(-preview)?)$/, 'v1, preview, or a date such as 2024-05-01-preview'),
      ),
    ),
    azure_extra_parameters: v.nullish(v.picklist(['drop', 'error', 'pass-through', 'allow', 'ignore'])),
    ...azureIdentitySettings,
  }),
  v.transform((given) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined))),
) as unknown as v.GenericSchema<unknown, ProviderSettings>;
