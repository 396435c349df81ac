import type { ProviderError } from '../../contract/provider/provider.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { retryAfterMs } from '../../contract/values/http/retry-after.ts';
import { isText, type JsonObject } from '../../contract/values/json/json.ts';

/** `{err_code, err_msg, request_id}`, and of newer parts `{category, message, details, request_id}`. */
export function errorOf(status: number, body: JsonObject | null, headers: HeaderList): ProviderError {
  const { err_code: code, err_msg: text, category, message, details } = body ?? {};
  const found = [text, message, details].find(isText);
  return {
    message: `deepgram error: ${found ?? `the provider replied with status ${status}`}`,
    type: typeof category === 'string' ? category : null,
    param: null,
    code: typeof code === 'string' ? code : null,
    retryAfterMs: retryAfterMs(headers),
  };
}
