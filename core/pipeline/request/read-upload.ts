import type { RequestContext } from '../../contract/plugin/context.ts';
import { isUpload, uploadsBatch } from '../../contract/plugin/requests/uploads.ts';
import { isMultipartForm } from '../../contract/values/http/media-types.ts';
import { fieldsInHead, formHeadBytes, parseForm } from './form-data.ts';
import { peekBody } from './peek-body.ts';
import type { BodyLimits } from './read-body.ts';

/**
 * Fills `ctx.form` of an upload, for a plan that judges its files. The bytes are sent unchanged. Of a form above `formBytesMax`, the form is the text
 * fields in its first 64 KiB if they state the purpose `batch`. A form that cannot be read has no parts. Rejects with the error of the body, or
 * `overloaded`.
 */
export async function readUpload(ctx: RequestContext, { formBytesMax, streamedBytesMax }: BodyLimits): Promise<void> {
  const { body } = ctx.request;
  if (body.length === 0 || !isUpload(ctx)) return;
  const type = ctx.request.header('content-type') ?? '';
  if (!isMultipartForm(type)) return;
  let head = ctx.body;
  let isWhole = true;
  if (head === null) {
    // The body of a pass-through request is too large.
    if (ctx.peekedBody !== null) {
      if (ctx.passedParams?.purpose === 'batch') ctx.form = [];
      return;
    }
    const bytesMax = body.length > formBytesMax ? formHeadBytes : formBytesMax;
    const peeked = await peekBody(body, bytesMax, streamedBytesMax, (bytes) => ctx.holdBytes(bytes));
    ctx.peekedBody = peeked.from(peeked.head);
    ({ head, isWhole } = peeked);
  }
  // The parser copies large files.
  if (isWhole) ctx.holdBytes(head.length);
  try {
    const parts = await (isWhole ? parseForm(head, type) : fieldsInHead(head.subarray(0, formHeadBytes), type));
    if (isWhole || uploadsBatch(parts)) ctx.form = parts;
  } catch {
    // The provider replies with its own error, unless a guardrail denies what it cannot read.
  }
}
