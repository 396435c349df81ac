import * as v from 'valibot';
import { awsSettings } from '../../cloud-auth/aws-region.ts';
import type { ProviderSettings } from '../../contract/provider/provider.ts';
import { bucketPattern } from '../../contract/provider/provider-settings.ts';
import { keptSettings } from '../../formats/stored/stored-settings.ts';

/** Settings of the provider `bedrock`. Secrets are `api_key`, `aws_access_key_id`, `aws_secret_access_key`, `aws_session_token`. */
export const settings: v.GenericSchema<unknown, ProviderSettings> = v.object({
  ...awsSettings,
  ...keptSettings,
  /** Comma list of beta features of Claude models, sent inside the body. */
  anthropic_beta: v.nullish(v.pipe(v.string(), v.maxLength(1024))),
  /** Where files are kept, and what batches and fine-tuning jobs read and write. */
  aws_s3_bucket: v.nullish(v.pipe(v.string(), v.regex(bucketPattern, 'the name of a bucket'))),
  /** Key of the next upload in place of one made here. */
  aws_s3_object_key: v.nullish(v.pipe(v.string(), v.minLength(1), v.maxLength(900))),
  /** `provider_model` by another name, and before it. */
  aws_bedrock_model: v.nullish(v.pipe(v.string(), v.maxLength(2048))),
  /** How S3 encrypts what is written: `aws:kms`, and the key it does so with. */
  amz_server_side_encryption: v.nullish(v.picklist(['AES256', 'aws:kms', 'aws:kms:dsse'])),
  amz_server_side_encryption_aws_kms_key_id: v.nullish(v.pipe(v.string(), v.regex(/^[\w:/-]{1,2048}$/, 'the ARN of a key'))),
  /** Another base URL in place of `https://bedrock-runtime.<region>.amazonaws.com`: a VPC endpoint, for example. */
  custom_host: v.nullish(v.string()),
});
