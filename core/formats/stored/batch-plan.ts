import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json.ts';
import { badParam } from '../bad-param.ts';
import { storedText } from './stored-settings.ts';
import { readUploadNote } from './upload-note.ts';

/** `endpoint` of a new batch: its own, the one of the settings, or the one its file was uploaded for. */
export function endpointOf(call: OperationCall): unknown {
  const { endpoint, input_file_id: file } = call.params;
  return endpoint ?? storedText(call, 'provider_batch_endpoint') ?? readUploadNote(file).endpoint ?? undefined;
}

/**
 * The model of a batch that has one: the first of those given here, else the one of the body, of the settings, or the one its file was
 * uploaded for. Null where only its lines can tell.
 */
export function modelBesideLines(call: OperationCall, ...before: readonly unknown[]): string | null {
  const { model, input_file_id: file } = call.params;
  const said = [...before, model, storedText(call, 'provider_model'), readUploadNote(file).model];
  return (said.find((one) => typeof one === 'string' && one !== '') as string | undefined) ?? null;
}

/** `metadata` of a new batch: at most 16 texts. Null for none. Throws `bad_request`. */
export function metadataOf(call: OperationCall): Readonly<Record<string, string>> | null {
  const { metadata } = call.params;
  if (metadata === undefined || metadata === null) return null;
  if (isMetadata(metadata)) return metadata;
  throw badParam('metadata', 'at most 16 texts of at most 512 characters under names of at most 64 are expected');
}

/** True for what `metadata` may be. */
export function isMetadata(value: unknown): value is Readonly<Record<string, string>> {
  if (!isObject(value)) return false;
  const entries = Object.entries(value as JsonObject);
  return (
    entries.length <= 16 && entries.every(([key, text]) => key.length <= 64 && typeof text === 'string' && text.length <= 512)
  );
}
