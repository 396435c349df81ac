/** What holds for all routes, in Markdown. */
export function apiText(headerPrefix: string): string {
  return [
    `Send an API key as \`${headerPrefix}api-key\` or as a bearer token. Organisation keys name the workspace they mean with`,
    '`workspace_id` (id or slug), in the query or the body; keys of a workspace are locked to it.',
    '',
    'Lists take `current_page` (from 0) and `page_size` (at most 100) and answer with `total`. Unknown and repeated keys are refused.',
    'A thing that belongs to another organisation is not found.',
    '',
    'Replies about one thing carry its version as `etag`. Changes with `if-match` are refused with 412 when it is no longer the',
    'current one; without it the later change wins. Creates with an `idempotency-key` are carried out once in 24 hours: the same',
    'request again gets the same reply and `idempotency-replayed: true`, another request under the same key 422.',
    '',
    'Errors are `{"success": false, "data": {"message", "errorCode", "errors"?}}`. 503 and 429 carry `retry-after`.',
  ].join('\n');
}
