import * as v from 'valibot';
import { type ErrorCode, errorTable, GatewayError } from '../../contract/values/errors/errors.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';

const wireError = v.object({
  code: v.custom<ErrorCode>((value) => typeof value === 'string' && Object.hasOwn(errorTable, value)),
  message: v.string(),
  status: v.number(),
  detail: v.nullable(v.string()),
});

/** An error as another process receives it. */
export function toWire({ code, message, status, detail }: GatewayError): JsonObject {
  return { code, message, status, detail };
}

/** Returns the error that another process sent; `internal` for any other value. */
export function fromWire(value: JsonObject): GatewayError {
  const parsed = v.safeParse(wireError, value);
  if (!parsed.success) return new GatewayError('internal');
  const { code, message, status, detail } = parsed.output;
  return new GatewayError(code, { message, status, ...(detail === null ? {} : { detail }) });
}
