import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { type FormPart, partText } from '../../contract/values/bodies/form.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { messageOf } from '../../contract/values/errors/message-of.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { withParams } from '../request/form-data.ts';

/** Returns the client's form with the text fields set from these parameters. `given` are the client's parameters. */
export function shapedForm(form: readonly FormPart[], given: JsonObject, params: JsonObject): readonly FormPart[] {
  const model = form.find((part) => part.name === 'model' && part.filename === null);
  // Compare with the form's own model: the provider slug may have been removed from the parameters.
  const sent = model ? { ...given, model: partText(model) } : given;
  return withParams(form, sent, params);
}

/** Returns the form with the model of the call. */
export function withModel(form: readonly FormPart[], operation: Operation, call: OperationCall): readonly FormPart[] {
  const model = operation.modelInForm?.(call) ?? call.model;
  return model === call.model ? form : withParams(form, call.params, { ...call.params, model });
}

/**
 * Encodes JSON as bytes. Throws `bad_request` for nesting deeper than the stack, and `internal` for values that are not JSON, such as a BigInt or
 * a cycle: clients cannot send them.
 */
export function encode(body: JsonObject): Uint8Array {
  try {
    return Buffer.from(JSON.stringify(body));
  } catch (thrown) {
    if (thrown instanceof RangeError)
      throw new GatewayError('bad_request', { message: 'The body is nested too deeply', cause: thrown });
    const detail = `a plugin or the adapter of the provider made a body that is not JSON: ${messageOf(thrown)}`;
    throw new GatewayError('internal', { detail, cause: thrown });
  }
}
