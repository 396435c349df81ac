import { types } from 'node:util';
import type { Denial, Reply, Verdict } from '../contract/plugin/plugin.ts';
import { toGatewayError } from '../contract/values/errors/errors.ts';
import type { HeaderList } from '../contract/values/http/http.ts';
import { counted } from '../contract/values/text/counted.ts';

/**
 * Thrown if a hook returned a value that its contract does not allow. The message names the field, the value's type and what is
 * expected.
 */
class MalformedResult extends Error {}

/** Returns a copy of the reply with header names in lower case. Undefined for none. Throws MalformedResult. */
export function readReply(result: unknown): Reply | undefined {
  if (isNothing(result)) return undefined;
  if (typeof result !== 'object') throw malformed('result', result, 'a reply { status, headers, body } or undefined');
  const { status, headers, body } = result as Record<string, unknown>;
  checkStatus('reply.status', status);
  if (typeof body !== 'string' && !types.isUint8Array(body)) throw malformed('reply.body', body, 'a string or a Uint8Array');
  return { status: status as number, headers: readHeaders('reply.headers', headers), body };
}

/** Returns a copy of the reply or denial. Undefined for none. Throws MalformedResult. */
export function readReplyOrDenial(result: unknown): Reply | Denial | undefined {
  if (typeof result !== 'object' || result === null || !('action' in result)) return readReply(result);
  const { action, reply } = result as Record<string, unknown>;
  if (action !== 'deny') throw new MalformedResult('denial.action: expected deny');
  const denied = readReply(reply);
  if (!denied) throw malformed('denial.reply', reply, 'a reply { status, headers, body }');
  return { action, reply: denied };
}

/** Checks a head that a hook may have changed in place, and converts its header names to lower case. Throws MalformedResult. */
export function checkHead(head: { status: number; readonly headers: HeaderList }): void {
  checkStatus('head.status', head.status);
  const headers = readHeaders('head.headers', head.headers);
  for (let i = 0; i < headers.length; i += 2) head.headers[i] = headers[i] as string;
}

/** Returns the chunk to send. Null drops it. Throws MalformedResult. */
export function readChunk(result: unknown): Uint8Array | null {
  if (result === null || types.isUint8Array(result)) return result;
  throw malformed('result', result, 'a Uint8Array, or null to drop the chunk');
}

/** Returns a copy of the verdict. Undefined for none. Throws MalformedResult. */
export function readVerdict(result: unknown): Verdict | undefined {
  if (isNothing(result)) return undefined;
  if (typeof result !== 'object') throw malformed('result', result, 'a verdict { action, … } or undefined');
  const { action, body, status, reply, error, reason } = result as Record<string, unknown>;
  if (reason !== undefined && typeof reason !== 'string') throw malformed('verdict.reason', reason, 'a string');
  const because = reason === undefined ? {} : { reason };
  switch (action) {
    case 'pass':
      return { action, ...because };
    case 'change':
      if (typeof body !== 'string' && !types.isUint8Array(body))
        throw malformed('verdict.body', body, 'a string or a Uint8Array');
      if (status !== undefined) checkStatus('verdict.status', status);
      return { action, body, ...(status === undefined ? {} : { status: status as number }), ...because };
    case 'deny': {
      const denied = readReply(reply);
      if (!denied) throw malformed('verdict.reply', reply, 'a reply { status, headers, body }');
      return { action, reply: denied, ...because };
    }
    case 'fail':
      if (!(error instanceof Error)) throw malformed('verdict.error', error, 'a GatewayError');
      return { action, error: toGatewayError(error), ...because };
    default:
      throw new MalformedResult('verdict.action: expected pass, change, deny or fail');
  }
}

/** Returns a copy of a flat list of names and values, with names in lower case. Throws MalformedResult. */
export function readHeaders(field: string, headers: unknown): HeaderList {
  if (!Array.isArray(headers)) throw malformed(field, headers, 'a flat list [name, value, …]');
  if (headers.length % 2 !== 0)
    throw new MalformedResult(`${field}: got ${counted(headers.length, 'item')}, expected pairs of name and value`);
  return headers.map((item: unknown, i) => {
    if (typeof item !== 'string') throw malformed(`${field}[${i}]`, item, 'a string');
    return i % 2 === 0 ? item.toLowerCase() : item;
  });
}

function checkStatus(field: string, status: unknown): void {
  if (typeof status === 'number' && Number.isInteger(status) && status >= 200 && status <= 599) return;
  throw malformed(field, status, 'a whole number from 200 to 599');
}

function isNothing(result: unknown): result is null | undefined {
  return result === undefined || result === null;
}

/**
 * Returns the error for a malformed result. It names the type of the value, and the value only if it is a number: a text may be
 * content of a request.
 */
function malformed(field: string, found: unknown, expected: string): MalformedResult {
  const shown =
    typeof found === 'number' ? String(found) : found === null ? 'null' : Array.isArray(found) ? 'a list' : typeof found;
  return new MalformedResult(`${field}: got ${shown}, expected ${expected}`);
}
