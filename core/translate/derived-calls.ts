import type { OperationCall } from '../contract/provider/provider.ts';
import type { JsonObject } from '../contract/values/json/json.ts';

/** A call in another format that was made from a call, and its `params` if they differ. */
export type DerivedCallOf = (call: OperationCall, params?: JsonObject) => OperationCall;

/**
 * Creates calls in another format, each once. Request, reply and stream of the original call share it. `make` returns its
 * parameters, `over` the other differences.
 */
export function derivedCalls(
  make: (params: JsonObject, call: OperationCall) => JsonObject,
  over: (call: OperationCall) => Partial<OperationCall> = () => ({}),
): DerivedCallOf {
  // Stored in the call itself. Minor collections do not clear WeakMap entries whose value refers to their key, which cost 9 KB per request.
  const made = Symbol('derived call');
  type Call = OperationCall & { [made]?: { readonly of: OperationCall; readonly derived: OperationCall } };
  return (call: Call, params = call.params) => {
    const known = call[made];
    // A copy of a call is another call.
    if (known?.of === call && params === call.params) return known.derived;
    const { model, stream, settings, metadata, strict, withoutReasoning, dropped, adapted, nowSeconds } = call;
    const newId = (prefix: string): string => call.newId(prefix);
    const kept = { model, stream, settings, metadata, strict, withoutReasoning };
    const rest = { ...kept, dropped, adapted, nowSeconds, newId, ...over(call) };
    const derived = { ...rest, params: make(params, call) };
    call[made] = { of: call, derived };
    return derived;
  };
}
