import type OpenAI from 'openai';
import type { UpstreamCall } from '../../../../core/contract/provider/upstream.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { createHarness, type Harness, replyWith, type Script } from '../../../../core/test-kit/pipeline-harness.ts';
import { openAiOver } from '../../../support/clients/clients-over-harness.ts';

/** Files, batches and fine-tuning jobs in the account's bucket, through OpenAI's client, against the service's wire format. */
export const account = {
  provider: 'bedrock',
  aws_region: 'eu-central-1',
  aws_access_key_id: 'AKIDEXAMPLE',
  aws_secret_access_key: 'sk',
  aws_s3_bucket: 'my-bucket',
};
export const role = 'arn:aws:iam::123456789012:role/batch';
export const jobArn = 'arn:aws:bedrock:eu-central-1:123456789012:model-invocation-job/abc123def456';
export const model = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
export const storage = 'https://s3.eu-central-1.amazonaws.com';
export const control = 'https://bedrock.eu-central-1.amazonaws.com';

export function open(config: JsonObject = account): { harness: Harness; client: OpenAI } {
  const harness = createHarness();
  harness.addConfig('aws', config);
  return { harness, client: openAiOver(harness, { 'x-svc-config': 'aws' }) };
}

export const jsonl = (...lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
export const textOf = (call: UpstreamCall | undefined) => Buffer.from((call?.body ?? []) as Uint8Array).toString();
export const objects = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
export const plain = (status: number, body = '', headers: string[] = []): Script => replyWith(status, body, headers);
export const idOf = (key: string) => encodeURIComponent(`s3://my-bucket/${key}`);
