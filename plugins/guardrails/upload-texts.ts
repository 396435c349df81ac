import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { uploadsBatch } from '../../core/contract/plugin/requests/uploads.ts';
import { type FormPart, partText } from '../../core/contract/values/bodies/form.ts';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { textOfFile } from './encoded-texts.ts';

/**
 * Returns an upload as checks read it: its fields, and in `files` the names of its files and their texts. Lines of a batch are read when the batch is
 * created. Null: the form cannot be read. Rejects with `overloaded`.
 */
export async function uploadBody(ctx: RequestContext): Promise<JsonObject | null> {
  const { form } = ctx;
  if (form === null) return ctx.request.body.length === 0 ? {} : null;
  const files: string[] = [];
  const isBatch = uploadsBatch(form);
  for (const part of form) {
    if (part.filename === null) continue;
    files.push(part.filename);
    if (isBatch) continue;
    const text = textOf(part);
    if (text === null) continue;
    ctx.holdBytes(part.body.length);
    files.push(text);
    if (startsJson.test(text) && text.includes('\\')) files.push(await ctx.inTurns(unescapeSteps(text)));
  }
  const fields = fieldsOf(form);
  return { ...fields, files: [...(fields.files ?? []), ...files] };
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
function textOf({ filename, contentType, body }: FormPart): string | null {
  const type = textNames.test(filename ?? '') ? 'text/plain' : contentType;
  return textOfFile(body, type);
}

const textNames = /\.(?:txt|md|markdown|csv|tsv|jsonl?|ndjson|ya?ml|xml|html?|tex|log)$/i;

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
