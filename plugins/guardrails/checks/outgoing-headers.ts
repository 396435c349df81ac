import * as v from 'valibot';
import { defaultPrefix, headerParam } from '../../../core/contract/protocol/header-names.ts';
import { isUnforwardedHeader } from '../../../core/contract/values/http/connection-headers.ts';
import type { CheckServices } from './check.ts';

const credentials = /^(?:authorization|cookie|set-cookie|.*api-?key|ocp-apim-subscription-key|x-auth-.*|.*-token|.*secret.*)$/;
export const traceIdHeader = headerParam('trace-id');
/** Headers of the gateway that carry no secret. */
const tracing: ReadonlySet<string> = new Set([traceIdHeader, `${defaultPrefix}span-id`]);

// The name is lowered first: valibot drops the issue of a union's option if a transformation follows it.
const name = v.pipe(v.string(), v.toLowerCase(), v.regex(/^[a-z0-9-]{1,128}$/, 'header names have letters, digits and hyphens'));
/** False for names that no check may send to another service. */
const isSent = (header: string) => tracing.has(header) || !(isUnforwardedHeader(header) || header.startsWith(defaultPrefix));

/** Names of request headers that a check passes on. */
export const forwardHeaders = v.optional(
  v.pipe(
    v.array(
      v.pipe(
        name,
        v.check((header) => isSent(header) && !credentials.test(header), 'this header cannot be forwarded'),
      ),
    ),
    v.maxLength(32),
  ),
  [],
);

const headerMap = v.pipe(
  v.record(
    v.pipe(name, v.check(isSent, 'this header cannot be set')),
    v.pipe(v.string(), v.maxLength(4096), v.regex(/^[\t\x20-\x7e]*$/, 'expected printable ASCII')),
  ),
  v.check((map) => Object.keys(map).length <= 32, 'expected at most 32 headers'),
);

/** Headers that a check sends with each call: an object, or its JSON text. */
export const headers = v.optional(v.union([headerMap, v.pipe(v.string(), v.parseJson(), headerMap)]), {});

/**
 * Throws an Error if a parameter names a header with a prefix of this deployment: the gateway's own headers are for the gateway. The schemas
 * reject the default prefix.
 */
export function refuseOwnHeaders(
  given: { readonly headers?: Readonly<Record<string, string>>; readonly forwardHeaders?: readonly string[] },
  { headerPrefixes = [] }: CheckServices,
): void {
  const isOwn = (header: string) => !tracing.has(header) && headerPrefixes.some((prefix) => header.startsWith(prefix));
  const set = Object.keys(given.headers ?? {}).find(isOwn);
  if (set !== undefined) throw new Error(`headers.${set}: this header cannot be set`);
  const at = given.forwardHeaders?.findIndex(isOwn) ?? -1;
  if (at !== -1) throw new Error(`forwardHeaders[${at}]: this header cannot be forwarded`);
}

/**
 * The address of a service that a check calls. The connector decides at each call whether it may be reached, and `check-saved.ts` rejects
 * addresses that never may.
 */
export const serviceUrl = v.pipe(
  v.string(),
  v.maxLength(2048),
  v.check((text) => {
    const url = URL.parse(text);
    return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && url.hash === '';
  }, 'expected an http or https URL without credentials and fragment'),
);

/** Returns the names of the parameters that hold such an address. */
export function serviceUrlsOf(parameters: v.GenericSchema): string[] {
  const { entries = {} } = parameters as Partial<v.StrictObjectSchema<v.ObjectEntries, undefined>>;
  const isUrl = (entry: unknown) => entry === serviceUrl || (entry as { readonly wrapped?: unknown }).wrapped === serviceUrl;
  return Object.keys(entries).filter((name) => isUrl(entries[name]));
}
