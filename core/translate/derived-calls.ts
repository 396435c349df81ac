import type { OperationCall } from '../contract/provider/provider.ts';
import type { JsonObject } from '../contract/values/json.ts';

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
  const made = new WeakMap<OperationCall, OperationCall>();
  return (call, params = call.params) => {
    let derived = made.get(call);
    if (derived === undefined || params !== call.params) {
      const { model, stream, settings, metadata, strict, dropped, adapted, nowSeconds } = call;
      const newId = (prefix: string): string => call.newId(prefix);
      const rest = { model, stream, settings, metadata, strict, dropped, adapted, nowSeconds, newId, ...over(call) };
      derived = { ...rest, params: make(params, call) };
      made.set(call, derived);
    }
    return derived;
  };
}
