import type { OperationCall } from '../contract/provider/provider.ts';
import { noteOnce } from './note-once.ts';

/**
 * Reports content of a reply that the client's format cannot carry, as `reply.<name>` in `x-svc-dropped-params`. In a stream the
 * headers have already been sent, so the pipeline repeats the names in a comment after the last event.
 */
export function dropFromReply(call: OperationCall, name: unknown): void {
  noteOnce(call.dropped, `reply.${String(name)}`);
}

/**
 * Reports content of a reply that the client's format carries in another form or only in part, as `reply.<name>` in
 * `x-svc-adapted`.
 */
export function adaptInReply(call: OperationCall, name: unknown): void {
  noteOnce(call.adapted, `reply.${String(name)}`);
}

/** Reports each field that has content and is not in `read`. Empty lists and objects, `null` and `''` are not content. */
export function dropUnread(from: object, read: ReadonlySet<string>, call: OperationCall): void {
  for (const name in from) {
    if (!read.has(name) && holdsSomething((from as Readonly<Record<string, unknown>>)[name])) dropFromReply(call, name);
  }
}

function holdsSomething(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
