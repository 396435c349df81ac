import { findHeader, type HeaderList } from '../../contract/values/http/http.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { unmarkedTextOf } from '../../contract/values/text/utf8.ts';
import type { ExchangeStream } from '../../pipeline/attempt/exchange-stream.ts';

/** Maximum length of a response of the API in bytes. Models read the result as a whole. */
const resultBytesMax = 1_048_576;

const isText = /^(?:text\/|application\/(?:json|xml|yaml|javascript|x-ndjson|[\w.-]+\+(?:json|xml))\b)/i;

/** Returns the result of a tool from the response of the API. Error statuses, redirects and binary content are errors of the tool. */
export async function restResult(status: number, headers: HeaderList, stream: ExchangeStream): Promise<JsonObject> {
  const refused = refusalOf(status);
  if (refused !== null) {
    stream.abort();
    return failed(refused);
  }
  const bytes = await stream.whole(resultBytesMax);
  if (bytes === null) return failed(`The API replied with more than ${resultBytesMax} bytes. Ask for less`);
  const type = findHeader(headers, 'content-type') ?? 'text/plain';
  const content = contentOf(type.split(';')[0]?.trim().toLowerCase() ?? '', bytes);
  if (content === null) return failed(`The API replied with binary content (${type.slice(0, 100)}, ${bytes.length} bytes)`);
  if (status < 400) return { content: [content] };
  return { content: [{ type: 'text', text: `The API replied with status ${status}` }, content], isError: true };
}

/** Returns null if clients may see the response. One about the credential concerns the integration, not the client. */
function refusalOf(status: number): string | null {
  if (status === 401 || status === 403) return `The API rejected the credential of its integration (${status})`;
  if (status >= 300 && status < 400) return `The API replied with a redirect (${status}). Redirects are not followed`;
  return null;
}

function contentOf(type: string, bytes: Uint8Array): JsonObject | null {
  if (/^(image|audio)\/[\w.+-]+$/.test(type) && type !== 'image/svg+xml') {
    return { type: type.split('/')[0], data: Buffer.from(bytes).toString('base64'), mimeType: type };
  }
  if (bytes.length > 0 && !isText.test(type)) return null;
  const text = unmarkedTextOf(bytes);
  return text === null ? null : { type: 'text', text };
}

function failed(text: string): JsonObject {
  return { content: [{ type: 'text', text }], isError: true };
}
