/** Rules of all routes, in Markdown. */
export function apiText(headerPrefix: string): string {
  return [
    `Send an API key as \`${headerPrefix}api-key\` or as a bearer token. Requests of organisation keys name the workspace in`,
    '`workspace_id` (id or slug), in the query or the body; keys of a workspace are locked to it.',
    '',
    'The data plane (`x-svc-plane: data`) is served by gateways below `/v1`. Its bodies are open: parameters of providers pass. Every other',
    `path below \`/v1\` that is not part of this document passes through to the provider that \`${headerPrefix}provider\` or`,
    `\`${headerPrefix}config\` names: method, path, query and body arrive unchanged. \`/v1/proxy/...\` passes any path through.`,
    'Errors of the gateway have the code in `error.name`.',
    '',
    'Lists of the control plane take `current_page` (from 0) and `page_size` (at most 100) and return `total`. Unknown and repeated keys are',
    'refused. Bodies may repeat parameters of the path with the same values. An item of another organisation is not found.',
    '',
    'Replies about one item carry its version as `etag`. Changes with `if-match` are rejected with 412 if another version is current;',
    'without it the later change wins. Creates with an `idempotency-key` are executed once in 24 hours: the same request again gets the',
    'same reply and `idempotency-replayed: true`, another request under the same key gets 422.',
    '',
    'Errors of the control plane are `{"success": false, "data": {"message", "errorCode", "errors"?}}`. 503 and 429 carry `retry-after`.',
  ].join('\n');
}
