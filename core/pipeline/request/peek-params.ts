import type { RequestContext } from '../../contract/plugin/context.ts';
import { isObject, type JsonObject } from '../../contract/values/json.ts';
import { fieldsInHead, paramsOfForm } from './form-data.ts';
import { holdBytes } from './hold-bytes.ts';
import { checkJsonLimits } from './json-limits.ts';
import { formHeadBytes } from './passed-request.ts';
import { peekBody } from './peek-body.ts';
import type { BodyLimits } from './read-body.ts';

/**
 * Fills `ctx.passedParams` of a pass-through request, for a plan that asks for parameters: from JSON of at most `jsonBytesMax`, and from
 * the text fields that stand whole in the first 64 KiB of a form. The bytes go on as they came, whatever they are; what cannot be
 * read has no parameters. Rejects with what the body fails with, or `overloaded`.
 */
export async function peekParams(ctx: RequestContext, limits: BodyLimits): Promise<void> {
  const { body } = ctx.request;
  if (body.length === 0) return;
  const type = ctx.request.header('content-type') ?? '';
  const isForm = /^multipart\/form-data\b/i.test(type);
  if (!isForm && !/^application\/([\w.+-]+\+)?json\b/i.test(type)) return;
  const bytesMax = isForm ? formHeadBytes : limits.jsonBytesMax;
  let head = ctx.body;
  if (head === null) {
    // JSON is read whole or not at all.
    if (!isForm && body.length > bytesMax) return;
    const peeked = await peekBody(body, bytesMax, limits.streamedBytesMax, (bytes) => holdBytes(ctx, bytes));
    head = peeked.head;
    if (peeked.isWhole) {
      ctx.body = head;
      ctx.requestBytes = head.length;
    } else {
      ctx.peekedBody = peeked.from(head);
      if (!isForm) return;
    }
  }
  ctx.passedParams = isForm ? await formParams(head.subarray(0, formHeadBytes), type) : jsonParams(head, limits.jsonValuesMax);
}

async function formParams(head: Uint8Array, contentType: string): Promise<JsonObject | null> {
  try {
    return paramsOfForm(await fieldsInHead(head, contentType));
  } catch {
    return null;
  }
}

function jsonParams(body: Uint8Array, valuesMax: number): JsonObject | null {
  try {
    checkJsonLimits(body, valuesMax);
    const value: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
