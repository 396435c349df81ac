/** Error types of the Anthropic API by status ("Errors" page, November 2026). */
const typeOfStatus: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  // Bedrock and SageMaker reply 424 if the model failed.
  424: 'api_error',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};
const types: ReadonlySet<string> = new Set([...Object.values(typeOfStatus), 'api_error']);

/**
 * Returns the `error.type` of a Messages error: `given` if the Anthropic API has that type, otherwise the type of the status. OpenAI uses
 * `invalid_request_error` for most statuses, such as 401 and 404, for which the Anthropic API has types of their own.
 */
export function messagesErrorType(status: number, given: string | null = null): string {
  if (given !== null && types.has(given)) return given;
  return typeOfStatus[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}
