import * as v from 'valibot';
import { defaultPrefix } from '../../../core/contract/protocol/header-names.ts';
import type { ForwardHeaders } from '../../../core/contract/protocol/mcp/mcp.ts';
import { isForwardable, isProtocolHeader } from '../../../core/contract/protocol/mcp/mcp-headers.ts';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { modelHeaders } from '../integrations/configurations/custom-headers.ts';

/** Headers of A2A, which are not those of MCP. */
const agentHeaders = /^(a2a-.*|x-a2a-.*)$/i;

/** Headers of every call, by name. */
export const sentHeaders = v.nullish(
  v.pipe(
    modelHeaders,
    v.check(
      (value) => !Object.keys(value).some((one) => isProtocolHeader(one.toLowerCase()) || agentHeaders.test(one)),
      'the protocol sets this header. Remove it',
    ),
  ),
);

const headerName = v.pipe(v.string(), v.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, 'not a header name'), v.toLowerCase());
const forwardable = v.pipe(
  headerName,
  v.check((value) => isForwardable(value) && !value.startsWith(defaultPrefix), 'this header is never forwarded. Remove it'),
);
const forwarded = v.pipe(
  v.array(v.union([forwardable, v.strictObject({ from: forwardable, to: forwardable })])),
  v.maxLength(50, 'at most 50 headers'),
);

/** A list of names is an allow-list. */
const forwardHeaders = v.union([forwarded, v.strictObject({ mode: oneOf(['allowlist', 'all-except']), headers: forwarded })]);
export const sentForwardHeaders = v.nullish(forwardHeaders);
export type SentForwardHeaders = v.InferOutput<typeof forwardHeaders>;

/** Returns the rules in the form of documents. */
export function toForwardHeaders(sent: SentForwardHeaders): ForwardHeaders {
  const { mode, headers } = Array.isArray(sent) ? { mode: 'allowlist' as const, headers: sent } : sent;
  return { mode, headers: headers.map((one) => (typeof one === 'string' ? { from: one, to: one } : one)) };
}
