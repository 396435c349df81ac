import type { RequestContext } from '../contract/context.ts';
import { GatewayError } from '../contract/errors.ts';
import type { FormPart } from '../contract/form.ts';
import type { RequestBody } from '../contract/http.ts';
import type { JsonObject } from '../contract/json.ts';
import type { Operation, RequestContent } from '../contract/provider.ts';
import { encodeForm, withParams } from './form-data.ts';

/** A body and its type; null type and body for requests that have none. */
export interface Body {
  readonly contentType: string | null;
  readonly body: Uint8Array | RequestBody | null;
}

/**
 * The body of a request that is not the JSON `toProvider` makes: what the operation made of it, the client's form, a streamed body,
 * or none. Null: it is that JSON. Throws `body_too_large` where a form that is not kept would have to be changed.
 */
export function otherContent(
  ctx: RequestContext,
  operation: Operation,
  params: JsonObject,
  content: RequestContent | null,
  limits: { readonly formBytesMax: number },
): Body | null {
  if (content) return encoded(ctx, content, params);
  if (ctx.streamedForm) return streamedForm(ctx, operation, params, limits.formBytesMax);
  if (ctx.form) return encoded(ctx, { kind: 'form', parts: ctx.form }, params);
  const kind = ctx.endpoint?.body;
  if (kind === 'none') return { contentType: null, body: null };
  if (kind !== 'stream') return null;
  const type = ctx.request.header('content-type') ?? 'application/octet-stream';
  return { contentType: type, body: ctx.request.body.length === 0 ? null : takenOnce(ctx, ctx.request.body) };
}

function encoded(ctx: RequestContext, content: RequestContent, params: JsonObject): Body {
  if (content.kind === 'json') return { contentType: 'application/json', body: encode(content.body) };
  if (content.kind === 'bytes') return content;
  if (content.parts !== ctx.form) return encodeForm(content.parts);
  // Nobody changed anything: boundary, order and every byte stay the client's.
  if (params === ctx.params && !ctx.bodyChanged) return { contentType: contentTypeOf(ctx), body: ctx.body };
  return encodeForm(withParams(ctx.form, sentParams(ctx.form, ctx.params ?? {}), params));
}

/** The parameters as the form spelt them: those that were replaced on the way (a model without its slug) count as changed. */
function sentParams(form: readonly FormPart[], params: JsonObject): JsonObject {
  const model = form.find((part) => part.name === 'model' && part.filename === null);
  return model ? { ...params, model: Buffer.from(model.body).toString('utf8') } : params;
}

function streamedForm(ctx: RequestContext, operation: Operation, params: JsonObject, bytesMax: number): Body {
  const changed = new Set([...Object.keys(params), ...Object.keys(ctx.params ?? {})]);
  for (const name of changed) if (name === 'model' || params[name] === ctx.params?.[name]) changed.delete(name);
  const isKnown = ctx.params?.model !== undefined || params.model === undefined;
  if (operation.toContent || changed.size > 0 || !isKnown) {
    const why = operation.toContent
      ? 'this provider takes it in another form'
      : `${[...changed, 'model'][0]} has to be changed in it`;
    throw new GatewayError('body_too_large', {
      message: `Payload size exceeds the limit: a form over ${bytesMax} bytes goes through as it arrives, but ${why}`,
    });
  }
  const model = typeof params.model === 'string' ? params.model : null;
  const form = ctx.streamedForm as NonNullable<RequestContext['streamedForm']>;
  return { contentType: contentTypeOf(ctx), body: takenOnce(ctx, form.body(model)) };
}

function contentTypeOf(ctx: RequestContext): string {
  return ctx.request.header('content-type') as string;
}

/** A body as it arrives; remembers when somebody has begun to read it. */
export function takenOnce(ctx: RequestContext, body: RequestBody): RequestBody {
  return {
    length: body.length,
    bytes(maxBytes, onGrow) {
      ctx.bodyTaken = true;
      return body.bytes(maxBytes, onGrow);
    },
    pipe(to, maxBytes) {
      ctx.bodyTaken = true;
      return body.pipe(to, maxBytes);
    },
  };
}

/** JSON as bytes. Throws `bad_request` for nesting beyond the stack, the only thing that cannot be written. */
export function encode(body: JsonObject): Uint8Array {
  try {
    return Buffer.from(JSON.stringify(body));
  } catch (thrown) {
    throw new GatewayError('bad_request', { message: 'The body is nested too deeply', cause: thrown });
  }
}
