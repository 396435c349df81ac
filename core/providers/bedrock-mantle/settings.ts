import * as v from 'valibot';
import { awsSettings } from '../../cloud-auth/aws-region.ts';
import type { ProviderSettings } from '../../contract/provider/provider.ts';
import { responsesApiSetting } from '../../formats/openai/responses-only.ts';

const headerValue = v.pipe(v.string(), v.maxLength(1024), v.regex(/^[\x20-\x7e]+$/, 'printable ASCII only'));

/** Settings of `bedrock-mantle`. Secrets are `api_key`, `aws_access_key_id`, `aws_secret_access_key`, `aws_session_token`. */
export const settings: v.GenericSchema<unknown, ProviderSettings> = v.object({
  ...awsSettings,
  ...responsesApiSetting,
  anthropic_version: v.nullish(headerValue),
  anthropic_beta: v.nullish(headerValue),
  /** Another base URL in place of `https://bedrock-mantle.<region>.api.aws`. */
  custom_host: v.nullish(v.string()),
});
