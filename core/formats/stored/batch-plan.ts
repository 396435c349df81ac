import { routeOfLines } from '../../contract/plugin/requests/batch-line.ts';
import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, isText, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../bad-param.ts';
import { storedText } from './stored-settings.ts';
import { readUploadNote } from './upload-note.ts';

/** Returns the `endpoint` of a new batch as a route of the gateway: from the body, from the settings, or from the note of its uploaded file. */
export function endpointOf(call: OperationCall): unknown {
  const { endpoint, input_file_id: file } = call.params;
  return routeOfLines(endpoint ?? storedText(call, 'provider_batch_endpoint') ?? readUploadNote(file).endpoint ?? undefined);
}

/**
 * Returns the model of a batch: the first of those given here, else from the body, the settings, or the note of its uploaded
 * file. Null if only the lines name it.
 */
export function modelBesideLines(call: OperationCall, ...before: readonly unknown[]): string | null {
  const { model, input_file_id: file } = call.params;
  const stated = [...before, model, storedText(call, 'provider_model'), readUploadNote(file).model];
  return (stated.find(isText) as string | undefined) ?? null;
}

/** Returns the `metadata` of a new batch: at most 16 texts. Null for none. Throws `bad_request`. */
export function metadataOf(call: OperationCall): Readonly<Record<string, string>> | null {
  const { metadata } = call.params;
  if (metadata === undefined || metadata === null) return null;
  if (isMetadata(metadata)) return metadata;
  throw badParam('metadata', 'at most 16 texts of at most 512 characters under names of at most 64 are expected');
}

/** True for a valid `metadata`. */
export function isMetadata(value: unknown): value is Readonly<Record<string, string>> {
  if (!isObject(value)) return false;
  const entries = Object.entries(value as JsonObject);
  return (
    entries.length <= 16 && entries.every(([key, text]) => key.length <= 64 && typeof text === 'string' && text.length <= 512)
  );
}
