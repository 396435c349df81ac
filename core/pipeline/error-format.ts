import type { Endpoint, WireFormat } from '../contract/plugin/requests/endpoint.ts';
import { isGeminiPath } from '../contract/plugin/requests/gemini-paths.ts';
import type { InboundRequest } from '../contract/values/http/http.ts';

/**
 * Returns the format of an error reply. Routes that OpenAI's and Anthropic's clients share have no format of their own. Anthropic's send
 * their header with every request. Google's are recognised by their paths.
 */
export function errorFormatOf(endpoint: Endpoint | null, request: InboundRequest): WireFormat | 'gemini' {
  const format = endpoint?.format ?? 'plain';
  const isShared = format === 'plain' || endpoint?.isStored === true;
  if (isShared && request.header('anthropic-version') !== undefined) return 'messages';
  // Paths without a route are those of clients whose base URL lacks `/v1`.
  if (endpoint === null) return isGeminiPath(request.path) ? 'gemini' : format;
  return endpoint.errorForm ?? format;
}
