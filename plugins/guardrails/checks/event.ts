import type { HeaderList } from '../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { textParts } from '../texts.ts';
import { askedProvider } from './asked-providers.ts';
import type { CheckServices, Subject } from './check.ts';
import { traceIdHeader } from './outgoing-headers.ts';

/** Returns a request or response as services receive it. It holds no header and no credential. */
export async function eventOf(subject: Subject, services: CheckServices): Promise<JsonObject> {
  const { ctx, side, body, text, requestType, metadata } = subject;
  const isRequest = side !== 'output';
  return {
    request: {
      json: isRequest ? body : (ctx.params ?? {}),
      text: requestTextOf(subject),
      isStreamingRequest: ctx.stream,
      isTransformed: ctx.bodyChanged,
    },
    response: isRequest
      ? { json: {}, text: '', statusCode: null, isTransformed: false }
      : { json: body, text, statusCode: 200, isTransformed: false },
    provider: (await askedProvider(subject, services)) ?? '',
    requestType,
    ...(requestType === 'proxy' ? { requestInfo: requestInfoOf(ctx) } : {}),
    metadata,
    eventType: isRequest ? 'beforeRequestHook' : 'afterRequestHook',
  };
}

/** Returns the text of the request: for checks of responses that of its last message. */
export function requestTextOf({ ctx, side, text, operation }: Subject): string {
  if (side !== 'output') return text;
  return textParts(operation, 'input', ctx.params ?? {}, 'last_message')
    .map((part) => part.text)
    .join('\n');
}

/** The facts about a pass-through request, whose format is not known. */
function requestInfoOf({ request }: Subject['ctx']): JsonObject {
  const { method, path } = request;
  return { method, path, contentType: request.header('content-type') ?? null };
}

/** Returns the headers of a call to a service: its own, and those of the request that are to be forwarded. */
export function headersOf({ ctx }: Subject, own: Readonly<Record<string, string>>, forwarded: readonly string[]): HeaderList {
  const headers: HeaderList = Object.entries(own).flat();
  for (const name of forwarded) {
    // The header with the gateway's own key is never forwarded, whatever its name.
    if (Object.hasOwn(own, name) || name === ctx.keyHeader) continue;
    const value = name === traceIdHeader ? ctx.traceId : (ctx.request.header(name) ?? traceParent(name, ctx.traceId));
    if (value !== undefined) headers.push(name, value);
  }
  return headers;
}

/** A `traceparent` of a trace id that has the form of one. */
function traceParent(name: string, traceId: string): string | undefined {
  const id = traceId.replaceAll('-', '');
  return name === 'traceparent' && /^[0-9a-f]{32}$/.test(id) ? `00-${id}-${id.slice(16)}-01` : undefined;
}
