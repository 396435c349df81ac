import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { isPartial, uploadsBatch } from '../../core/contract/plugin/requests/uploads.ts';
import { isTextName, textOfFile } from '../../core/contract/values/bodies/encoded-file.ts';
import { type FormPart, partText } from '../../core/contract/values/bodies/form.ts';
import { isMultipartForm } from '../../core/contract/values/http/media-types.ts';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { notInBody } from './address-texts.ts';
import type { TextPart } from './every-text.ts';

/**
 * Returns an upload as checks read it: its fields, and in `files` the names of its files and their texts. Lines of a batch are read when the batch is
 * created. Null: the upload cannot be read. Rejects with `overloaded`.
 */
export async function uploadBody(ctx: RequestContext): Promise<JsonObject | null> {
  const { form } = ctx;
  if (form === null || isPartial(ctx)) return ctx.request.body.length === 0 ? {} : null;
  const isBatch = uploadsBatch(ctx.endpoint, form);
  const files = form.filter(isFile);
  if (files.length === 0 && !isBatch) return null;
  const names = files.flatMap(({ filename, otherNames = [] }) => [filename as string, ...otherNames]);
  const fields = fieldsOf(form);
  return { ...fields, files: [...(fields.files ?? []), ...names, ...(isBatch ? [] : await textsOf(ctx, files))] };
}

/** Returns the reason why an upload cannot be read, and the remedy. */
export function whyUnread(ctx: RequestContext): string {
  const { form, formError } = ctx;
  const remedy = 'or set failOnError of the check to false';
  if (isPartial(ctx) || !isMultipartForm(ctx.request.header('content-type') ?? ''))
    return `Guardrails read a file only if one multipart/form-data form contains it. Upload it whole with POST /files, ${remedy}`;
  if (form !== null) return `The form has no file. Send the file as a part with a filename, ${remedy}`;
  if (formError !== null) return formError;
  const batch = 'For a batch, send POST /files with the field purpose=batch before the file, and nothing after the file';
  return `Guardrails cannot read a form above FORM_BUFFER_MAX. ${batch}. For another file, raise FORM_BUFFER_MAX ${remedy}`;
}

/**
 * Returns the texts of the files in a form that is no upload: a provider could read a file as the field of its name. Checks cannot change them.
 * Undefined: there are none. Rejects with `overloaded`.
 */
export function textsInForm(ctx: RequestContext): Promise<readonly TextPart[]> | undefined {
  const files = ctx.form?.filter(isFile) ?? [];
  if (!files.some((file) => textOf(file) !== null)) return undefined;
  return textsOf(ctx, files).then((texts) => texts.map((text, index) => ({ text, path: [notInBody, index] })));
}

function isFile({ filename }: FormPart): boolean {
  return filename !== null;
}

async function textsOf(ctx: RequestContext, files: readonly FormPart[]): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const part of files) {
    const text = textOf(part);
    if (text === null) continue;
    ctx.holdBytes(part.body.length);
    texts.push(text);
    if (startsJson.test(text) && text.includes('\\')) texts.push(await ctx.inTurns(unescapeSteps(text)));
  }
  return texts;
}

/** The texts of each field, because a provider could read the first or the last of two. */
function fieldsOf(form: readonly FormPart[]): Record<string, string[]> {
  const fields: Record<string, string[]> = Object.create(null);
  for (const part of form) {
    if (part.filename !== null) continue;
    fields[part.name] ??= [];
    fields[part.name]?.push(partText(part));
  }
  return fields;
}

/** The text of a file. Null for one that is no text, such as an image: as in messages, checks do not read it. */
function textOf({ filename, otherNames = [], contentType, body }: FormPart): string | null {
  const type = [filename, ...otherNames].some(isTextName) ? 'text/plain' : contentType;
  return textOfFile(body, type);
}

/** JSON or lines of it. */
const startsJson = /^\s*[[{"]/;

/** Characters that are unescaped in one turn of the event loop. */
const stepChars = 256 * 1024;

/** Returns JSON with its escapes replaced by what they stand for, so that words in it are whole. */
export function* unescapeSteps(text: string): Generator<void, string> {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = endOfStep(text, at);
    pieces.push(text.slice(at, end).replace(escapes, unescaped));
    at = end;
    yield;
  }
  return pieces.join('');
}

/** Returns the end of a step that begins outside of an escape, so that no escape is cut. */
function endOfStep(text: string, from: number): number {
  const end = from + stepChars;
  if (end >= text.length) return text.length;
  let last = end - 1;
  while (text[last] !== '\\' && last > end - escapeChars) last--;
  if (text[last] !== '\\') return end;
  let run = last;
  while (run > from && text[run - 1] === '\\') run--;
  // The second of two backslashes begins no escape.
  return (last - run) % 2 === 1 ? end : last;
}

/** Length of the longest escape, such as `\u0041`. */
const escapeChars = 6;

const escapes = /\\(?:u([0-9a-fA-F]{4})|([^u]))/g;
const characters: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescaped(_escape: string, hex: string | undefined, letter: string | undefined): string {
  if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
  return characters[letter as string] ?? (letter as string);
}
