import type { ErrorObject } from 'ajv/dist/2020.js';
import type { SchemaInput, ToolValueVerdict } from '../../core/contract/plugin/services/worker-tasks.ts';
import { messageOf } from '../../core/contract/values/errors/message-of.ts';
import { compile, schemaSizeOf } from './check-schema.ts';

const errorsMax = 10;
const textLengthMax = 300;

/**
 * Checks arguments or a result of a tool against the schema that its server declares. The server wrote the schema, so a schema that cannot be used
 * is a verdict, not an error.
 */
export default function checkToolValue({ schema, json }: SchemaInput): ToolValueVerdict {
  try {
    const validate = compile(schema, { isForeign: true });
    if (json === null || validate(JSON.parse(json))) return { problem: null, errors: [] };
    return { problem: null, errors: (validate.errors ?? []).slice(0, errorsMax).map(textOf) };
  } catch (thrown) {
    return { problem: messageOf(thrown).slice(0, textLengthMax), errors: [] };
  }
}

/** Maximum length of a schema that is compiled on the main thread: it may be new with each list of the server's tools. */
const inlineSchemaMax = 4096;

/** Returns the size of a check like `schemaSizeOf`. Long schemas run in a thread too. */
export function toolValueSizeOf(input: SchemaInput): number {
  return JSON.stringify(input.schema).length > inlineSchemaMax ? Number.POSITIVE_INFINITY : schemaSizeOf(input);
}

/** Names the value that the schema expects, so that a model can correct itself. */
function textOf({ instancePath, message = 'does not match', params }: ErrorObject): string {
  const { additionalProperty, unevaluatedProperty, allowedValues, allowedValue } = params as Record<string, unknown>;
  const named = additionalProperty ?? unevaluatedProperty ?? allowedValues ?? allowedValue;
  const text = `${instancePath} ${message}${named === undefined ? '' : `: ${JSON.stringify(named)}`}`;
  return text.trim().slice(0, textLengthMax);
}
