import type { ProviderError } from '../../contract/provider/provider.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { retryAfterMs } from '../../contract/values/http/retry-after.ts';
import { type JsonObject, textOrNull } from '../../contract/values/json/json.ts';

/** `{id, name, errors: [texts]}`, and `{id, name, message}` of engines. */
export function errorOf(status: number, body: JsonObject | null, headers: HeaderList): ProviderError {
  const { errors, message, name } = body ?? {};
  const list = Array.isArray(errors) ? errors.filter((text) => typeof text === 'string').join('; ') : '';
  const found = list !== '' ? list : message;
  return {
    message: `stability-ai error: ${typeof found === 'string' && found !== '' ? found : `the provider replied with status ${status}`}`,
    type: textOrNull(name),
    param: null,
    code: null,
    retryAfterMs: retryAfterMs(headers),
  };
}
