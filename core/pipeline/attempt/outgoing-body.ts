import type { RequestContext } from '../../contract/plugin/context.ts';
import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { GatewayError } from '../../contract/values/errors.ts';
import { type FormPart, partText } from '../../contract/values/form.ts';
import type { RequestBody } from '../../contract/values/http.ts';
import type { JsonObject } from '../../contract/values/json.ts';
import { encodeForm, withParams } from '../request/form-data.ts';

/** A body and its content type. Both are null for requests without a body. */
export interface Body {
  readonly contentType: string | null;
  readonly body: Uint8Array | RequestBody | null;
}

/**
 * Returns the body of a request that is not the JSON of `toProvider`: the body made by the operation, the client's form, a
 * streamed body, or none. Null if it is that JSON. Throws `body_too_large` if a form of over `formBytesMax` would have to be
 * changed.
 */
export function otherContent(ctx: RequestContext, operation: Operation, call: OperationCall, formBytesMax: number): Body | null {
  if (ctx.streamedForm) return streamedForm(ctx, ctx.streamedForm, operation, call, formBytesMax);
  const content = operation.toContent?.(call.params, call) ?? null;
  if (content?.kind === 'json') return { contentType: 'application/json', body: encode(content.body) };
  if (content?.kind === 'bytes') return content;
  const form = content?.parts ?? call.form;
  if (form) return formOf(ctx, content ? form : withModel(form, operation, call));
  const kind = ctx.endpoint?.body;
  if (kind === 'none') return { contentType: null, body: null };
  if (kind !== 'stream') return null;
  const type = ctx.request.header('content-type') ?? 'application/octet-stream';
  return { contentType: type, body: ctx.request.body.length === 0 ? null : ctx.takeBody(ctx.request.body) };
}

/** Returns the client's form with the text fields set from these parameters. `given` are the client's parameters. */
export function shapedForm(form: readonly FormPart[], given: JsonObject, params: JsonObject): readonly FormPart[] {
  const model = form.find((part) => part.name === 'model' && part.filename === null);
  // Compare with the form's own model: the provider slug may have been removed from the parameters.
  const sent = model ? { ...given, model: partText(model) } : given;
  return withParams(form, sent, params);
}

/** Returns the client's own bytes and boundary if the form is unchanged. */
function formOf(ctx: RequestContext, parts: readonly FormPart[]): Body {
  return parts === ctx.form ? { contentType: contentTypeOf(ctx), body: ctx.body } : encodeForm(parts);
}

function withModel(form: readonly FormPart[], operation: Operation, call: OperationCall): readonly FormPart[] {
  const model = operation.modelInForm?.(call) ?? call.model;
  return model === call.model ? form : withParams(form, call.params, { ...call.params, model });
}

function streamedForm(
  ctx: RequestContext,
  form: NonNullable<RequestContext['streamedForm']>,
  operation: Operation,
  call: OperationCall,
  bytesMax: number,
): Body {
  const known = ctx.params ?? {};
  const model = operation.modelInForm?.(call) ?? call.model;
  const changed = Object.keys({ ...known, ...call.params }).find((name) => name !== 'model' && call.params[name] !== known[name]);
  const isStuck = known.model === undefined && model !== '' && model !== undefined;
  const isRemade = operation.toContent !== undefined && !operation.takesForms;
  if (isRemade || changed !== undefined || isStuck) {
    const why = isRemade ? 'this provider needs the body in another form' : `${changed ?? 'model'} has to be changed in it`;
    throw new GatewayError('body_too_large', {
      message: `Payload size exceeds the limit: a form over ${bytesMax} bytes is streamed unchanged, but ${why}`,
    });
  }
  return { contentType: contentTypeOf(ctx), body: ctx.takeBody(form.body(model === '' ? null : model)) };
}

function contentTypeOf(ctx: RequestContext): string {
  return ctx.request.header('content-type') as string;
}

/** Encodes JSON as bytes. Throws `bad_request` for nesting deeper than the stack, the only value that cannot be written. */
export function encode(body: JsonObject): Uint8Array {
  try {
    return Buffer.from(JSON.stringify(body));
  } catch (thrown) {
    throw new GatewayError('bad_request', { message: 'The body is nested too deeply', cause: thrown });
  }
}
