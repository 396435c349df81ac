import * as v from 'valibot';
import { guardrailRecord } from '../../../core/contract/plugin/guardrails/guardrail-result.ts';
import { pluginTime } from '../../../core/contract/plugin/record/plugin-time.ts';
import {
  attemptRecord,
  batchRecord,
  decisionRecord,
  outcomes,
  sessionRecord,
} from '../../../core/contract/plugin/record/record.ts';
import { verdictRecord } from '../../../core/contract/plugin/record/verdict.ts';
import { bit, nullableText, nullableUuid, time, uuid } from '../../http/reply/reply-schemas.ts';
import { feedbackReply } from './feedback-reply.ts';

const nullableNumber = v.nullable(v.number());
/** Bodies and headers of requests are not stored. */
const nothing = v.null();

/** Statistics of a WebSocket session. */
const session = v.strictObject({
  messages_from_client: v.number(),
  messages_from_provider: v.number(),
  bytes_from_client: v.number(),
  bytes_from_provider: v.number(),
  close_code: v.nullable(v.number()),
  closed_by: sessionRecord.entries.closedBy,
});

const metrics = v.strictObject({
  id: uuid,
  organisation_id: nullableUuid,
  organisation_name: nullableText,
  workspace_slug: nullableText,
  created_at: time,
  is_success: v.boolean(),
  ai_org: nullableText,
  ai_model: nullableText,
  req_units: v.number(),
  res_units: v.number(),
  total_units: v.number(),
  /** Null: the price of the model is unknown. */
  cost: v.pipe(nullableNumber, v.description('Cost in the unit that cost_unit names: US cents')),
  saved_cost: v.pipe(nullableNumber, v.description('What a cached reply saved, in the same unit. Null: not cached, or unknown')),
  /** `provider`: counted by the provider. `estimate`: the provider did not count all of it. Null: no usage. */
  usage_source: v.nullable(v.picklist(['provider', 'estimate'])),
  cost_currency: v.literal('USD'),
  cost_unit: v.literal('cent'),
  /** `model`: saved. `provider`: the provider stated the cost. `public`: from the public list. `unknown`. Null: nothing was priced. */
  price_source: nullableText,
  unpriced_units: v.pipe(
    v.array(v.string()),
    v.description('Units, and models of tools, without a price. If there are any, the cost is a lower bound'),
  ),
  request_url: v.string(),
  request_method: v.string(),
  response_status_code: v.number(),
  response_time: v.number(),
  /** Milliseconds to receive and parse the body, until the first attempt, in the cache, and to parse the response; null: not measured. */
  request_parsing_time: nullableNumber,
  pre_processing_time: nullableNumber,
  cache_processing_time: nullableNumber,
  response_parsing_time: nullableNumber,
  /** Milliseconds of all attempts together, and the rest of response_time. */
  upstream_response_time: v.number(),
  gateway_processing_time: v.number(),
  /** Milliseconds until the last token of a stream; null for other replies. */
  ttlt: nullableNumber,
  is_proxy_call: v.boolean(),
  cache_status: nullableText,
  cache_type: nothing,
  stream_mode: bit,
  retry_success_count: v.number(),
  trace_id: v.string(),
  internal_trace_id: uuid,
  span_id: nullableText,
  span_name: nullableText,
  parent_span_id: nullableText,
  mode: nullableText,
  virtual_key: nullableText,
  config: nullableText,
  config_id: nullableText,
  config_version_id: nullableText,
  last_used_option_index: v.number(),
  prompt_id: nullableText,
  prompt_slug: nullableText,
  prompt_version_id: nullableText,
  prompt_version: nullableNumber,
  /** The label in the reference; null if it has none. */
  prompt_label: nullableText,
  api_key_id: nullableText,
  user_id: nullableText,
  /** `custom`: inserted with `POST /v1/logs`. */
  source: nullableText,
  /** Runtime and package of the SDK, as the client states them. */
  runtime: nullableText,
  runtime_version: nullableText,
  sdk_version: nullableText,
  /** For spans of clients: the log of the gateway for the same call, which has the usage. */
  usage_log_id: nullableText,
  'metadata.key': v.array(v.string()),
  'metadata.value': v.array(v.string()),
});

const timings = v.strictObject({
  request_parsing: v.number(),
  limits: v.number(),
  cache: v.number(),
  plugins: v.number(),
  guardrails: v.number(),
  upstream: v.number(),
  response_parsing: v.number(),
  gateway: v.number(),
});

/** Record of one request. */
const logReply = v.strictObject({
  _id: uuid,
  request: v.strictObject({
    url: v.string(),
    method: v.string(),
    headers: v.strictObject({}),
    body: nothing,
    svcHeaders: v.record(v.string(), v.string()),
  }),
  response: v.strictObject({
    status: v.number(),
    headers: v.strictObject({}),
    body: nothing,
    responseTime: v.number(),
    lastUsedOptionJsonPath: v.string(),
  }),
  organisation_id: nullableUuid,
  created_at: time,
  outcome: v.picklist(outcomes),
  error: v.nullable(v.strictObject({ code: v.string(), message: nullableText })),
  /** Mode of the config's strategy; null for configs without one. */
  strategy: nullableText,
  /** `retry`: again at the same target. `fallback`: at the next one. */
  attempts: v.array(v.strictObject({ ...attemptRecord.entries, reason: v.picklist(['first', 'retry', 'fallback']) })),
  /** Responses that a verdict rejected, that a retry or fallback replaced, or that came too late. The units and the cost of `metrics` include theirs. */
  discarded: v.array(
    v.strictObject({
      ai_org: nullableText,
      virtual_key: nullableText,
      ai_model: nullableText,
      req_units: v.number(),
      res_units: v.number(),
    }),
  ),
  /** Milliseconds with fractions; null: not measured. `gateway` is the rest, without waits between attempts. */
  timings: v.nullable(timings),
  decisions: v.array(v.strictObject(decisionRecord.entries)),
  verdicts: v.array(v.strictObject(verdictRecord.entries)),
  /** Guardrails that ran, without texts of the request or the reply. */
  guardrails: v.array(guardrailRecord),
  guardrails_omitted: v.pipe(
    v.number(),
    v.description('Results of guardrails beyond the 200 that a log lists. Denials are always listed'),
  ),
  /** Times of third-party plugins, by hook. */
  plugins: v.array(v.strictObject(pluginTime.entries)),
  session: v.nullable(session),
  /** The part of the gateway that made the call; null for requests of clients. */
  purpose: nullableText,
  /** Unverified subject of the request's token; null for keys. */
  token_subject: nullableText,
  batch: v.nullable(v.strictObject(v.omit(batchRecord, ['settings']).entries)),
  /** Call of an MCP server. */
  mcp: v.nullable(
    v.strictObject({
      server_id: v.string(),
      server: v.string(),
      integration_id: nullableText,
      transport: v.string(),
      method: v.nullable(v.string()),
      name: v.nullable(v.string()),
      revision: v.nullable(v.string()),
      auth_type: v.picklist(['api_key', 'jwt', 'oauth']),
      upstream_auth_type: v.string(),
      error_code: v.nullable(v.number()),
      is_tool_error: v.boolean(),
      /** The server rejected a credential, and the call was sent again with another. */
      upstream_token_refreshed: v.boolean(),
      /** The endpoint that the client called, if it was not the server itself. */
      via: v.nullable(v.strictObject({ server_id: v.string(), server: v.string(), name: v.string() })),
    }),
  ),
  /** Call of an A2A agent. */
  agent: v.nullable(
    v.strictObject({
      server_id: v.string(),
      server: v.string(),
      integration_id: v.string(),
      binding: v.string(),
      operation: nullableText,
      version: nullableText,
      task_id: nullableText,
      context_id: nullableText,
      task_state: nullableText,
      auth_type: v.picklist(['api_key', 'jwt']),
      upstream_auth_type: v.string(),
      error_code: v.nullable(v.number()),
    }),
  ),
  metrics,
});

export const logListReply = v.strictObject({
  object: v.literal('list'),
  /** Null unless `include_total=true`, because counting reads every matching record. Null also if counting takes too long. */
  total: nullableNumber,
  has_more: v.boolean(),
  next_cursor: nullableText,
  data: v.array(logReply),
});

const headersShown = v.record(v.string(), v.string());
/** Reason for which a body is missing or not whole; README.md explains the reasons. Null: nothing is missing. */
const omitted = v.nullable(v.picklist(['cut', 'binary', 'not_held', 'not_stored', 'unreadable', 'unavailable']));

/** Reason for which a body between gateway and provider is missing or not whole. `unchanged`: it is the body of `request` or `response`. */
const exchangedOmitted = v.nullable(v.picklist(['cut', 'binary', 'not_held', 'unchanged']));
const sentRequest = v.nullable(
  v.strictObject({ url: v.string(), method: v.string(), headers: headersShown, body: v.unknown(), omitted: exchangedOmitted }),
);

/** One log with headers and bodies if they are stored, and up to 100 feedbacks of its trace. */
export const logDetailReply = v.strictObject({
  ...logReply.entries,
  request: v.strictObject({ ...logReply.entries.request.entries, headers: headersShown, body: v.unknown(), omitted }),
  response: v.strictObject({ ...logReply.entries.response.entries, headers: headersShown, body: v.unknown(), omitted }),
  /** Variables of a prompt if they are stored: a text if they were cut. The body of the request is the rendered prompt. */
  prompt: v.nullable(v.strictObject({ variables: v.unknown(), omitted: v.nullable(v.literal('cut')) })),
  /** The request in the client's format after the config and guardrails; null without a stored call to a provider. */
  finalUntransformedRequest: sentRequest,
  /** The request as it was sent to the provider by the last attempt. Credentials are masked. */
  transformedRequest: sentRequest,
  /** The provider's response to it. */
  originalResponse: v.nullable(
    v.strictObject({ status: v.number(), headers: headersShown, body: v.unknown(), omitted: exchangedOmitted }),
  ),
  feedbacks: v.array(feedbackReply),
});
