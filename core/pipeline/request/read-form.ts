import type { RequestContext } from '../../contract/plugin/context.ts';
import { GatewayError } from '../../contract/values/errors.ts';
import { fieldsInHead, paramsOfForm, parseForm } from './form-data.ts';
import { holdBytes } from './hold-bytes.ts';
import { formHeadBytes } from './passed-request.ts';
import { peekBody } from './peek-body.ts';
import type { BodyLimits } from './read-body.ts';

/**
 * Reads a form. Up to `formBytesMax` it is kept, so that its model can be routed by and another target can be asked; a larger one
 * goes through once as it arrives, and only the fields before its first large file are known.
 */
export async function readForm(ctx: RequestContext, contentType: string, limits: BodyLimits): Promise<void> {
  const { body } = ctx.request;
  const keep = body.length <= limits.formBytesMax;
  if (keep && body.length >= 0) {
    ctx.body = await body.bytes(limits.formBytesMax, (bytes) => holdBytes(ctx, bytes));
    return takeWhole(ctx, ctx.body, contentType);
  }
  // If the form does not declare its length, read as much as could be stored.
  const peeked = await peekBody(body, keep ? limits.formBytesMax : formHeadBytes, limits.streamedBytesMax, (bytes) =>
    holdBytes(ctx, bytes),
  );
  if (peeked.isWhole) {
    ctx.body = peeked.head;
    return takeWhole(ctx, ctx.body, contentType);
  }
  takeParams(ctx, await fieldsInHead(peeked.head.subarray(0, formHeadBytes), contentType));
  const sent = ctx.model;
  // A slug in the model names a stored provider, not the upstream's model, so it is removed.
  ctx.streamedForm = {
    body: (model) =>
      peeked.from(sent === null || model === null || model === sent ? peeked.head : renamed(peeked.head, sent, model)),
  };
}

async function takeWhole(ctx: RequestContext, body: Uint8Array, contentType: string): Promise<void> {
  ctx.requestBytes = body.length;
  ctx.form = await parseForm(body, contentType);
  takeParams(ctx, ctx.form);
}

/** The same bytes with another value in the field `model`. */
function renamed(head: Uint8Array, sent: string, model: string): Uint8Array {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const found = /content-disposition:[^\r\n]*;[ \t]*name="?model"?(?=[;\r \t]).*?\r\n\r\n/is.exec(bytes.toString('latin1'));
  if (!found) throw new GatewayError('internal', { detail: 'the model of a form was read but not found again' });
  const from = found.index + found[0].length;
  return Buffer.concat([bytes.subarray(0, from), Buffer.from(model), bytes.subarray(from + Buffer.byteLength(sent))]);
}

function takeParams(ctx: RequestContext, parts: NonNullable<RequestContext['form']>): void {
  const params = paramsOfForm(parts);
  ctx.params = params;
  ctx.model = typeof params.model === 'string' ? params.model : null;
  ctx.stream = params.stream === 'true' || params.stream === 'True';
}
