import * as v from 'valibot';
import { awsSettings } from '../../cloud-auth/aws-region.ts';
import type { ProviderSettings } from '../../contract/provider/provider.ts';
import type { HeaderList } from '../../contract/values/http.ts';

/** The rest of a setting's name after `amzn_sagemaker_`, with `-` for `_`, is that of its header after `x-amzn-sagemaker-`. */
const headerSettings = [
  'amzn_sagemaker_custom_attributes',
  'amzn_sagemaker_target_model',
  'amzn_sagemaker_target_variant',
  'amzn_sagemaker_target_container_hostname',
  'amzn_sagemaker_inference_id',
  'amzn_sagemaker_enable_explanations',
  'amzn_sagemaker_inference_component',
  'amzn_sagemaker_session_id',
  'amzn_sagemaker_model_name',
] as const;

/** What may be the value of a header: visible ASCII and spaces, as the API takes it. */
const headerValue = v.nullish(v.pipe(v.string(), v.maxLength(1024), v.regex(/^[ -~]*$/, 'visible ASCII characters')));

/** Settings of the provider `sagemaker`. Secrets are `aws_access_key_id`, `aws_secret_access_key`, `aws_session_token`. */
export const settings: v.GenericSchema<unknown, ProviderSettings> = v.object({
  ...awsSettings,
  aws_auth_type: v.nullish(v.picklist(['accessKey', 'assumedRole', 'serviceRole'])),
  ...(Object.fromEntries(headerSettings.map((name) => [name, headerValue])) as Record<string, typeof headerValue>),
  /** Another base URL in place of `https://runtime.sagemaker.<region>.amazonaws.com`: a VPC endpoint, for example. */
  custom_host: v.nullish(v.string()),
});

/**
 * Headers that say which part of an endpoint answers and what it is told
 * (docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html).
 */
export function endpointHeaders(given: ProviderSettings): HeaderList {
  const headers: HeaderList = [];
  for (const name of headerSettings) {
    const value = given[name];
    if (typeof value === 'string' && value !== '') headers.push(`x-${name.replaceAll('_', '-')}`, value);
  }
  return headers;
}
