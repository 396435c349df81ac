import * as v from 'valibot';
import type { OperationCall } from '../../contract/provider/provider.ts';

const text = (max: number, pattern: RegExp, expected: string) =>
  v.nullish(v.pipe(v.string(), v.maxLength(max), v.regex(pattern, expected)));

/**
 * Settings of providers whose files and batches are made here, of lines in OpenAI's form. They mostly come as headers of one request:
 * `x-svc-provider-model`, `x-svc-file-purpose`, …
 */
export const keptSettings = {
  /** Model of a batch that names none beside its lines. */
  provider_model: text(2048, /^[!-~]+$/, 'the name of a model'),
  /** OpenAI's endpoint of a batch, `/v1/chat/completions`, where its body names none. */
  provider_batch_endpoint: text(64, /^\/v1\/[a-z_/]+$/, 'an endpoint such as /v1/chat/completions'),
  /** What an upload is called at the provider: the object's key in a bucket, a dataset's name. */
  provider_file_name: text(900, /^[^\0-\x1f\x7f]+$/, 'the name of a file'),
  /** Bytes of an upload, which it must then have. */
  file_upload_size: v.nullish(
    v.pipe(
      v.union([v.number(), v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number))], 'a number of bytes'),
      v.safeInteger('a number of bytes'),
      v.minValue(0, 'a number of bytes'),
    ),
  ),
  /** What an upload is for, where its form says nothing within the first MiB of the file. */
  file_purpose: text(64, /^[\w-]+$/, 'a purpose such as batch'),
};

/** A setting of these that is a text; null where it is not set. */
export function keptText(
  { settings }: OperationCall,
  name: Exclude<keyof typeof keptSettings, 'file_upload_size'>,
): string | null {
  const value = settings[name];
  return typeof value === 'string' ? value : null;
}
