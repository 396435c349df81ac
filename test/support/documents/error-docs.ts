import { type AdminErrorCode, adminErrorTable } from '../../../admin/http/errors.ts';
import { type ErrorCode, errorTable } from '../../../core/contract/values/errors/errors.ts';

/** Remedies for each error of the gateway. */
const gatewayActions: Readonly<Record<ErrorCode, string>> = {
  invalid_api_key: 'Send a valid API key or JWT in `x-svc-api-key` or `Authorization: Bearer`.',
  api_key_expired: 'Rotate the key, change its `expires_at`, or use another key.',
  provider_expired: 'Change `expires_at` of the provider, or add a fallback.',
  model_not_allowed: 'Allow the model in the integration (`PUT /v1/integrations/{slug}/models`), or use another model.',
  key_usage_limit: 'Raise the budget of the key, or send `reset_usage: true`.',
  workspace_usage_limit: 'Raise the budget of the workspace, or wait for its next period.',
  provider_usage_limit: 'Raise the budget of the provider, send `reset_usage: true`, or add a fallback.',
  integration_usage_limit: 'Raise the budget of the integration in this workspace, or add a fallback.',
  key_rate_limit: 'Wait for `retry-after`, or raise the limit of the key.',
  workspace_rate_limit: 'Wait for `retry-after`, or raise the limit of the workspace.',
  provider_rate_limit: 'Wait for `retry-after`, raise the limit of the provider, or add a fallback.',
  integration_rate_limit: 'Wait for `retry-after`, raise the limit of the integration, or add a fallback.',
  usage_policy_limit:
    'Raise the limit of the policy in the message, reset its counter (`PUT …/entities/{id}/reset`), or add a fallback.',
  rate_policy_limit: 'Wait for `retry-after`, raise the limit of the policy in the message, or add a fallback.',
  limit_unknown: 'Retry. If it persists, check that gateways reach the control plane. `on_unavailable` decides per limit.',
  forbidden: 'Use a key with the scope that the message names. Admin keys cannot call models.',
  too_many_failures: 'Wait for `retry-after`, and correct the key.',
  too_many_sessions: 'Close a session, or raise the `REALTIME_SESSIONS…` setting that the message names.',
  unmetered_request: 'Use the route that the message names, or remove the budget or `reject_unmetered_requests`.',
  bad_request: 'Correct the header or field in `error.param`.',
  invalid_json: 'Correct the body as the message says.',
  invalid_config: 'Correct the paths in `errors`, or name an existing config.',
  invalid_provider: 'Correct the provider. The message suggests the nearest slug.',
  missing_provider: 'Set `x-svc-provider`, `x-svc-config`, a model such as `@slug/model`, or a default config.',
  invalid_custom_host: 'Use a public https URL, or add the host to `TRUSTED_CUSTOM_HOSTS`.',
  config_override_blocked: 'Remove `x-svc-config`, or allow overrides in the key.',
  inline_config_blocked: 'Save the config and send its slug, or turn `block_inline_config` off.',
  inline_provider_blocked: 'Store the provider and send `@slug`, or turn `block_inline_config` off.',
  inline_custom_host_blocked: 'Store the host in an integration, or turn `block_inline_config` off.',
  inline_provider_url_blocked: 'Store the URL in an integration, or turn `block_inline_config` off.',
  inline_forward_headers_blocked: 'Set `forward_headers` in a saved config, or turn `block_inline_config` off.',
  unsupported_operation:
    'Use a provider with this function: see [providers.md](providers.md#functions). With 426, send a POST instead of opening a session.',
  body_too_large:
    'Send a smaller body, or raise the limit in [settings.md](settings.md): `JSON_BODY_MAX`, `STREAMED_BODY_MAX` or another.',
  uri_too_long: 'Shorten the path and query.',
  headers_too_large: 'Send fewer or shorter headers.',
  loop_detected: 'Call the target of the inner request directly: a host, webhook, MCP server or agent leads back to the gateway.',
  not_found: 'Correct the path. The message names the right one for common mistakes.',
  method_not_allowed: 'Use a method of the `allow` header.',
  upgrade_required: 'Connect with a WebSocket client.',
  client_closed: 'Appears only in records and metrics: no client receives this reply.',
  request_timeout: 'Retry, raise `request_timeout`, or add a fallback.',
  upstream_connect: 'Retry, or add a fallback. `POST /v1/integrations/{slug}/test` and the log of the gateway give the reason.',
  upstream_reset: 'Retry, or add a fallback. The log has the reason.',
  upstream_invalid: 'Check that the host speaks the API of the provider. The log has the reason.',
  upstream_status: 'See the message of the provider in the reply.',
  request_denied: 'Change the request. The body or the log names the guardrails that failed.',
  response_denied: 'Change the request. The record names the plugin in `verdicts`.',
  stream_incomplete: 'Discard the partial reply and send the request again.',
  overloaded:
    'Wait for `retry-after`. Add gateway processes, or raise the setting that the message names. If the log names `EMFILE`, raise the limit of open files.',
  unavailable: 'Retry. Check `/ready` and the log: control plane, spool or keys.',
  secret_unavailable: 'Test the integration: the reply names the reference and the reason.',
  token_unavailable:
    'Retry. The log has the address and the reason: check that gateways reach the token endpoint or metadata service.',
  draining: 'Retry: another process serves the request.',
  internal: 'Report it with the `x-request-id` of the reply. The log has the cause.',
};

/** Remedies for each error of the control plane. */
const adminActions: Readonly<Record<AdminErrorCode, string>> = {
  AB01: 'Correct the fields in `errors`.',
  AB02: 'Create the item first, or correct its id or slug.',
  AB03: 'Use a key or user with the scope that the message names.',
  AB04: 'Report it with the `x-request-id` of the reply.',
  AB05: 'Send a valid key in `x-svc-api-key`, or sign in again.',
  AB06: 'Wait for `retry-after`, then retry.',
  AB07: 'Choose another name, or read the item again and repeat the change.',
  AB08: 'Correct the path, id or slug.',
  AB09: 'Not used in this version.',
  AB10: 'Wait for `retry-after`, then retry. A request that reads many records may need a shorter time range.',
  AB12: 'Read the item again and repeat the change with its new `etag`.',
};

/** Returns the text of docs/errors.md. */
export function errorsDocument(): string {
  const gatewayRows = Object.entries(errorTable).map(
    ([code, row]) =>
      `| \`${code}\` | \`${row.authCode ?? code}\` | ${row.status} | ${row.public} | ${gatewayActions[code as ErrorCode]} | ${row.retryable ? 'yes' : 'no'} | ${row.source} | \`${row.type}\` |`,
  );
  const adminRows = Object.entries(adminErrorTable).map(
    ([code, { status, meaning }]) => `| \`${code}\` | ${status} | ${meaning} | ${adminActions[code as AdminErrorCode]} |`,
  );
  return `${head}${gatewayRows.join('\n')}\n${between}${adminRows.join('\n')}\n`;
}

const head = `# Errors

Generated from [core/contract/values/errors/errors.ts](../core/contract/values/errors/errors.ts) and [admin/http/errors.ts](../admin/http/errors.ts) by
\`npm run docs:errors\`. Do not edit.

## Gateway

The body is \`{"status":"failure","message":…,"error":{"message","type","param","code","name"}}\`; on \`/v1/messages\` it also has \`"type":"error"\`.
\`message\` may be more specific than the text below.

- \`error.name\` is stable and unique. \`error.code\` has the values that clients of the reference compare; several errors share a number.
- \`error.param\` names the invalid header or field. If a value has several issues, \`errors\` beside \`error\` has one \`path: reason\` per issue.
- *Retry*: the same request may succeed later or at another target. A fallback continues with the next target if its
  \`on_status_codes\` include the status; \`retry\` repeats an attempt if its own list does.
- *Source*: the party that caused the error.
- \`x-should-retry: false\` forbids retries of SDKs. Errors that the client caused have it, 429 only if \`retry-after\` exceeds 60 seconds.

On paths of Google's APIs, such as \`/v1/v1beta/models/…:generateContent\`, \`error\` also has Google's members: \`status\`, such as \`RESOURCE_EXHAUSTED\`,
and \`details\` with \`ErrorInfo\` (\`reason\` is \`error.name\` in capitals) and \`RetryInfo\`. \`error.code\` is the HTTP status, \`metadata.code\` of
\`ErrorInfo\` has the two-digit code, and \`status\` beside \`error\` is missing.

Two kinds of errors have other members, as clients of the reference expect:

- The codes \`inline_…_blocked\` have \`"error":{"code","message","field"}\`: \`code\` is the name below, and \`field\` the header or field. On
  \`/v1/messages\` they have \`type\` too.
- A guardrail that denies has \`"error":{"message","type","param","code"}\` with the type \`hooks_failed\`, and \`hook_results\` beside \`error\`.

An error that the provider returned keeps its status and has the body \`{"error":{…},"provider":…}\`. On pass-through routes the
body is the provider's own.

| \`error.name\` | \`error.code\` | Status | Meaning | What to do | Retry | Source | \`error.type\` |
| --- | --- | --- | --- | --- | --- | --- | --- |
`;

const between = `
## Control plane

The body is \`{"success":false,"data":{"message","errorCode","errors"?}}\`. \`errors\` holds one \`path: reason\` per issue and never a value.
Some errors have another status: AB01 is 413 for a body over 1 MiB (SCIM groups: 4 MiB), and 422 for a different request under a used \`idempotency-key\`.

| \`data.errorCode\` | Status | Meaning | What to do |
| --- | --- | --- | --- |
`;
