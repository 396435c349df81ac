import * as v from 'valibot';

/**
 * Headers and body of one direction. `body` is the value of a JSON body, otherwise its text; null if there is none. `omitted` gives the
 * reason why a body is missing or not whole: it is longer than LOG_BODY_MAX, is not text, was passed on without being held, or is not stored
 * because only error replies are (`debug_log_error_body`).
 */
const side = v.object({
  headers: v.record(v.string(), v.string()),
  body: v.unknown(),
  omitted: v.nullable(v.picklist(['cut', 'binary', 'not_held', 'not_stored'])),
});

/** Variables of a prompt. The body of the request is the rendered prompt. `cut`: they are a text, because they are longer than LOG_BODY_MAX. */
const promptInput = v.object({ variables: v.unknown(), omitted: v.nullable(v.literal('cut')) });

/** `unchanged`: the body is the one between the client and the gateway. The other reasons are those of a side. */
const exchangedBody = {
  body: v.unknown(),
  omitted: v.nullable(v.picklist(['cut', 'binary', 'not_held', 'unchanged'])),
};

/**
 * The last call to a provider. `params`: the request in the client's format after the config and guardrails. `request`: what was sent.
 * `response`: what arrived; null if nothing did.
 */
const exchange = v.object({
  params: v.object(exchangedBody),
  request: v.object({ url: v.string(), method: v.string(), headers: v.record(v.string(), v.string()), ...exchangedBody }),
  response: v.nullable(v.object({ status: v.number(), headers: v.record(v.string(), v.string()), ...exchangedBody })),
});

/** Headers and bodies of one request with credentials masked. Its id and time are those of the request's record. */
export const recordContent = v.object({
  id: v.pipe(v.string(), v.uuid()),
  createdAt: v.pipe(v.string(), v.isoTimestamp()),
  organisationId: v.pipe(v.string(), v.uuid()),
  workspaceId: v.pipe(v.string(), v.uuid()),
  request: side,
  response: side,
  /** Absent for requests without a prompt. */
  prompt: v.optional(promptInput),
  /** Absent for requests without a call to a provider. */
  exchange: v.optional(exchange),
});
export type RecordContent = v.InferOutput<typeof recordContent>;
export type PromptContent = v.InferOutput<typeof promptInput>;
export type ExchangeContent = v.InferOutput<typeof exchange>;
export type ContentSide = v.InferOutput<typeof side>;

/** Maximum bytes of one batch. */
export const contentBatchBytesMax = 33_554_432;

/** Maximum number of contents of one batch. */
export const contentsPerBatchMax = 100;
