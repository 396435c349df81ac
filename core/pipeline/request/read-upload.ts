import type { RequestContext } from '../../contract/plugin/context.ts';
import { isUpload, uploadsBatch } from '../../contract/plugin/requests/uploads.ts';
import type { RequestBody } from '../../contract/values/http/http.ts';
import { isMultipartForm } from '../../contract/values/http/media-types.ts';
import { fieldsInHead, formHeadBytes, parseForm } from './form-data.ts';
import { boundaryOf, countParts } from './form-framing.ts';
import { endsWithFile } from './last-file.ts';
import { peekBody } from './peek-body.ts';
import type { BodyLimits } from './read-body.ts';

/**
 * Fills `ctx.form` of an upload, for a plan that judges its files, unless it was filled with the parameters. The bytes are sent unchanged. Of a form above `formBytesMax`, the form is the text
 * fields in its first 64 KiB if they state the purpose `batch` and the file follows; it must be the last part. A form that cannot be read has no
 * parts. Rejects with the error of the body, or `overloaded`.
 */
export async function readUpload(ctx: RequestContext, { formBytesMax, streamedBytesMax }: BodyLimits): Promise<void> {
  const { body } = ctx.request;
  if (body.length === 0 || ctx.form !== null || ctx.formError !== null || !isUpload(ctx)) return;
  const type = ctx.request.header('content-type') ?? '';
  if (!isMultipartForm(type)) return;
  if (ctx.body !== null) return void (await readForm(ctx, ctx.body, type));
  // The body of a pass-through request was peeked into if it is too large.
  const isLarge = ctx.peekedBody !== null || body.length > formBytesMax;
  const hold = ctx.peekedBody === null ? (bytes: number) => ctx.holdBytes(bytes) : () => undefined;
  const peeked = await peekBody(ctx.peekedBody ?? body, isLarge ? formHeadBytes : formBytesMax, streamedBytesMax, hold);
  ctx.peekedBody = peeked.from(peeked.head);
  if (peeked.isWhole) await readForm(ctx, peeked.head, type);
  else await readBatch(ctx, ctx.peekedBody, peeked.head.subarray(0, formHeadBytes), type);
}

async function readForm(ctx: RequestContext, body: Uint8Array, type: string): Promise<void> {
  // The parser copies large files.
  ctx.holdBytes(body.length);
  try {
    ctx.form = await parseForm(body, type, (steps) => ctx.inTurns(steps));
  } catch (thrown) {
    if (ctx.aborted) throw thrown;
    // The provider replies with its own error, unless a guardrail denies what it cannot read.
    ctx.formError = (thrown as Error).message;
  }
}

async function readBatch(ctx: RequestContext, body: RequestBody, head: Uint8Array, type: string): Promise<void> {
  const boundary = boundaryOf(type);
  if (boundary === null) return;
  try {
    const fields = await fieldsInHead(head, type);
    // The file is the one part that is not complete.
    const parts = fields.length + 1;
    if (!uploadsBatch(ctx.endpoint, fields) || countParts(Buffer.from(head), boundary) !== parts) return;
    ctx.form = fields;
    ctx.peekedBody = endsWithFile(body, boundary, parts);
  } catch {
    // As above.
  }
}
