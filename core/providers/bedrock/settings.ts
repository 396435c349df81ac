import * as v from 'valibot';
import type { ProviderSettings } from '../../contract/provider.ts';
import { awsSettings } from '../shared/aws-region.ts';

/** Settings of the provider `bedrock`. Secrets are `api_key`, `aws_access_key_id`, `aws_secret_access_key`, `aws_session_token`. */
export const settings: v.GenericSchema<unknown, ProviderSettings> = v.object({
  ...awsSettings,
  /** Comma list of beta features of Claude models, sent inside the body. */
  anthropic_beta: v.nullish(v.pipe(v.string(), v.maxLength(1024))),
  /** Another base URL in place of `https://bedrock-runtime.<region>.amazonaws.com`: a VPC endpoint, for example. */
  custom_host: v.nullish(v.string()),
});
