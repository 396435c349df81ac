import * as v from 'valibot';
import { routeOfLines } from '../../../core/contract/plugin/requests/batch-line.ts';
import { isStorable } from '../../../core/contract/values/json/storable-json.ts';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';

/** Routes that a line of a batch may call. */
const batchEndpoints = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/messages',
  '/v1/moderations',
  '/v1/responses',
  '/v1/rerank',
  '/v1/images/generations',
] as const;

const metadata = v.pipe(
  v.record(v.pipe(v.string(), v.maxLength(64)), v.pipe(v.string(), v.maxLength(512))),
  v.check((value) => Object.keys(value).length <= 16, 'at most 16 entries'),
  v.check((value) => isStorable(value), 'contains U+0000 or half a surrogate pair'),
);

/** Body of `POST /batches` for a batch that the service runs. */
export const createBatchBody = v.strictObject({
  input_file_id: v.string(),
  endpoint: v.pipe(
    v.unknown(),
    v.transform(routeOfLines),
    v.picklist(batchEndpoints, `one of ${batchEndpoints.join(', ')} is expected`),
  ),
  completion_window: oneOf(['24h', 'immediate']),
  metadata: v.nullish(metadata),
  output_expires_after: v.optional(v.null('not supported for batches run by the service. Output files do not expire')),
  /** Gateway headers of the lines. */
  svc_options: v.nullish(v.record(v.string(), v.union([v.string(), v.number(), v.boolean(), v.record(v.string(), v.unknown())]))),
  /** Options for providers that run batches themselves. The service runs this batch, so there is no provider to send them to. */
  provider_options: v.nullish(v.strictObject({}, 'not supported for batches run by the service. Set parameters in the lines')),
});

/** One line of the input file (https://platform.openai.com/docs/api-reference/batch/request-input). */
export const batchLine = v.looseObject({
  custom_id: v.pipe(v.string(), v.minLength(1), v.maxLength(512)),
  method: v.literal('POST', 'POST is expected'),
  url: v.pipe(v.string(), v.transform(routeOfLines)),
  body: v.record(v.string(), v.unknown()),
});

/** Body that a gateway sends for `POST /batches`. */
export const createRequest = v.object({ batch: v.unknown(), headers: v.record(v.string(), v.string()) });
