import type { OperationCall } from '../../contract/provider/provider.ts';
import { badParam } from '../bad-param.ts';
import { decoded } from './stored-object.ts';
import { storedText } from './stored-settings.ts';

/** Properties of a batch that are known before its lines are read; null if the upload did not set them. */
export interface UploadNote {
  readonly endpoint: string | null;
  readonly model: string | null;
}

/** Maximum length of a note in characters. Keys of objects have at most 1,024. */
const noteMax = 600;

/**
 * Encodes the headers of an upload that describe its later batches, as a part of the object key. No other record of the file is
 * needed. Returns an empty string if the headers are absent. `model` takes precedence over `provider_model`.
 */
export function noteOfUpload(call: OperationCall, model: unknown = null): string {
  const stated = [storedText(call, 'provider_batch_endpoint'), textOrNull(model) ?? storedText(call, 'provider_model')];
  if (stated.every((value) => value === null)) return '';
  const note = `.${Buffer.from(JSON.stringify(stated)).toString('base64url')}`;
  if (note.length > noteMax)
    throw badParam('provider_model', 'too long to be stored with a file. Set the model when creating the batch');
  return note;
}

/** Reads the note in a file's id. Both fields are null for an id without a note. */
export function readUploadNote(id: unknown): UploadNote {
  const [, note] = /^\w\w:\/\/[^/]+\/svc-files\/[^/]+\/[\da-f-]{36}\.([\w-]+)\//.exec(decoded(id)) ?? [];
  try {
    const parsed: unknown = note === undefined ? [] : JSON.parse(Buffer.from(note, 'base64url').toString());
    const [endpoint, model]: unknown[] = Array.isArray(parsed) ? parsed : [];
    return { endpoint: textOrNull(endpoint), model: textOrNull(model) };
  } catch {
    return { endpoint: null, model: null };
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
