import { isOwnId } from '../../contract/provider/own-store.ts';
import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { isMetadata } from '../../formats/stored/batch-plan.ts';
import { idOf } from '../../formats/stored/stored-files.ts';

/** Properties of a message batch that the provider cannot store. */
export interface Remembered {
  readonly input_file_id: string;
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** Maximum characters of the remembered properties: an id is part of a path, which has 8,192 at most. */
const tokenMax = 4000;

/**
 * Returns the id of a batch for clients: the provider's id, a dot, and the remembered properties as base64url. Any client can
 * write such an id, so the properties are only returned and have no other effect. Metadata that would make the id too long is
 * left out and reported as dropped.
 */
export function batchId(id: unknown, remembered: Remembered, call: OperationCall): string {
  const token = packed(remembered);
  if (token.length <= tokenMax) return `${id}.${token}`;
  call.dropped.push('metadata');
  return `${id}.${packed({ ...remembered, metadata: null })}`;
}

/** Returns the provider's own id in the id of a client. Throws `bad_request` naming `param` for an invalid id. */
export function nativeId(given: string, param: string): string {
  const [native = ''] = given.split('.', 1);
  if (/^[\w-]{1,128}$/.test(native)) return native;
  throw badParam(param, 'the id of a batch is expected');
}

/** Adds the remembered properties to a batch, under the id in the client's path. */
export function rememberedAs(batch: JsonObject, call: OperationCall): JsonObject {
  const id = idOf(call);
  const remembered = unpacked(id);
  return remembered ? { ...batch, id, ...remembered } : batch;
}

function packed({ input_file_id: file, metadata }: Remembered): string {
  return Buffer.from(JSON.stringify([file, metadata])).toString('base64url');
}

function unpacked(id: string): Remembered | null {
  const token = id.slice(id.indexOf('.') + 1);
  if (token === id || token.length > tokenMax || !/^[\w-]+$/.test(token)) return null;
  try {
    const [file, metadata]: unknown[] = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
    if (typeof file !== 'string' || !isOwnId(file) || !/^[\w-]{1,80}$/.test(file)) return null;
    return { input_file_id: file, metadata: isObject(metadata) && isMetadata(metadata) ? metadata : null };
  } catch {
    return null;
  }
}
