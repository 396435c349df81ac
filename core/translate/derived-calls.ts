import type { OperationCall } from '../contract/provider/provider.ts';
import type { JsonObject } from '../contract/values/json.ts';

/** The call in another format that belongs to a call; `params` where they are not those of the call itself. */
export type DerivedCallOf = (call: OperationCall, params?: JsonObject) => OperationCall;

/**
 * Calls in another format, each made once and then shared by request, reply and stream of the call it was made of. `make` gives its
 * parameters, `over` what else differs.
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
