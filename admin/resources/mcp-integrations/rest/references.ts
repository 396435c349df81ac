import { isObject } from '../../../../core/contract/values/json/json.ts';
import { referenced } from '../../../../core/contract/values/json/json-pointer.ts';

/** An operation that cannot be a tool. The message states why. */
export class OperationError extends Error {}

const hopsMax = 10;

/** Returns the value of a JSON pointer within the document. Throws OperationError; references to other documents are never followed. */
export function resolve(document: unknown, reference: string): unknown {
  const short = reference.slice(0, 200);
  if (!reference.startsWith('#/')) throw new OperationError(`$ref ${short}: only references within the document are possible`);
  const value = referenced(document, reference);
  if (value === undefined) throw new OperationError(`$ref ${short}: the document has no such member`);
  return value;
}

/** Returns the value, or what it refers to. */
export function followed(document: unknown, value: unknown): unknown {
  let found = value;
  for (let hop = 0; isObject(found) && typeof found.$ref === 'string'; hop++) {
    if (hop === hopsMax) throw new OperationError(`$ref ${found.$ref.slice(0, 200)}: refers to itself`);
    found = resolve(document, found.$ref);
  }
  return found;
}
