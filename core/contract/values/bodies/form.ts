import type { RequestBody } from '../http/http.ts';

/** One part of a `multipart/form-data` body (RFC 7578). */
export interface FormPart {
  readonly name: string;
  /** Null for a text field. */
  readonly filename: string | null;
  /** Other names of the file that a parser could read: in `filename*`, or without escapes. Absent: there are none. */
  readonly otherNames?: readonly string[];
  /** As sent; null if the part has none. */
  readonly contentType: string | null;
  /** A view into the request's bytes: read it, do not keep or change it. */
  readonly body: Uint8Array;
}

/** The text of a field. */
export function partText(part: FormPart): string {
  return Buffer.from(part.body.buffer, part.body.byteOffset, part.body.byteLength).toString('utf8');
}

/** The files of a form under this field name, with or without the `[]` that some clients add for lists. */
export function filesOf(parts: readonly FormPart[], name: string): FormPart[] {
  return parts.filter((part) => part.filename !== null && (part.name === name || part.name === `${name}[]`));
}

/** A form that is forwarded as it arrives. Only text fields in its first bytes are known. */
export interface StreamedForm {
  /** Returns the body with this value in its `model` field, or unchanged if it has that value already. Call it once. */
  body(model: string | null): RequestBody;
}
