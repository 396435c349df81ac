import { awsAuth, awsRequires, awsSettings } from '../../provider-settings/aws.ts';
import { defineProvider } from '../../provider-settings/declaration.ts';
import { bucket, choice, headerValue, text } from '../../provider-settings/kinds.ts';
import { flexFactor } from '../../provider-settings/provider-prices.ts';
import { storedResourceSettings } from '../../provider-settings/stored-resources.ts';

/** Declares the provider `bedrock`. */
export const declaration = defineProvider({
  id: 'bedrock',
  telemetryName: 'aws.bedrock',
  priceId: 'aws',
  // An inference profile has a region before the model.
  priceName: (model) => model.replace(/^(?:us|eu|apac|global|us-gov|jp|au)\./, ''),
  prices: { tiers: () => ({ flex: flexFactor, priority: 1.75 }) },
  key: 'optional',
  settings: {
    ...awsSettings,
    ...storedResourceSettings,
    anthropic_beta: headerValue({
      about: 'Comma list of beta features of Claude models. Sent in the body.',
      example: 'context-1m-2025-08-07',
      inline: true,
    }),
    aws_s3_bucket: bucket({ about: 'Bucket of files, batches and fine-tuning jobs.', pinned: 'once-stored' }),
    aws_s3_object_key: text({
      about: 'Key of the next upload in place of a generated one.',
      expected: 'the key of an object',
      example: 'batches/input.jsonl',
      only: 'call',
      max: 900,
    }),
    aws_bedrock_model: text({
      about: 'Model of a batch, before `provider_model`.',
      expected: 'the id or ARN of a model',
      example: 'anthropic.claude-haiku-4-5-20251001-v1:0',
      max: 2_048,
      choosesModel: true,
    }),
    amz_server_side_encryption: choice({
      about: 'Encryption of objects that are written.',
      options: ['AES256', 'aws:kms', 'aws:kms:dsse'],
      pinned: 'once-stored',
    }),
    amz_server_side_encryption_aws_kms_key_id: text({
      about: 'KMS key of that encryption.',
      pattern: /^[\w:/-]{1,2048}$/,
      expected: 'the ARN of a key',
      example: 'arn:aws:kms:eu-central-1:123456789012:key/k1',
      max: 2_048,
      pinned: 'once-stored',
    }),
  },
  auth: [{ ...awsAuth, required: true }],
  requires: [{ needs: ['aws_region'] }, ...awsRequires],
  load: () => import('./index.ts'),
});
