import type { SettingDeclaration } from './declaration.ts';
import { count, text } from './kinds.ts';

/**
 * Settings of providers whose files and batches are translated from lines in OpenAI's format. Most arrive as headers of one request:
 * `x-svc-provider-model`, `x-svc-file-purpose`, …
 */
export const storedResourceSettings = {
  provider_model: text({
    about: 'Model of a batch whose body and lines name none.',
    pattern: /^[!-~]+$/,
    expected: 'the name of a model',
    example: 'example-model',
    max: 2_048,
    choosesModel: true,
    inline: true,
  }),
  provider_batch_endpoint: text({
    about: 'OpenAI endpoint of a batch whose body names none.',
    pattern: /^\/v1\/[a-z_/]+$/,
    expected: 'an endpoint such as /v1/chat/completions',
    example: '/v1/chat/completions',
    max: 64,
    inline: true,
  }),
  provider_file_name: text({
    about: 'Name of an upload at the provider: object key or dataset name.',
    expected: 'the name of a file',
    example: 'batches/input.jsonl',
    only: 'call',
    max: 900,
    inline: true,
  }),
  file_upload_size: count({
    about: 'Exact size of an upload in bytes.',
    expected: 'a number of bytes',
    example: 1_024,
    only: 'call',
    inline: true,
  }),
  file_purpose: text({
    about: 'Purpose of an upload whose form names none in its first MiB.',
    pattern: /^[\w-]+$/,
    expected: 'a purpose such as batch',
    example: 'batch',
    only: 'call',
    max: 64,
    inline: true,
  }),
} satisfies Readonly<Record<string, SettingDeclaration>>;
