import * as v from 'valibot';
import { isConnectionHeader, isUnforwardedHeader } from '../../../../core/contract/values/http/connection-headers.ts';
import { credentialHeaders } from '../../../../core/contract/values/http/credential-headers.ts';
import { headerValuePattern, notHeaderValue } from '../../../../core/contract/values/http/http.ts';

const ownHeaders = /^(cookie|x-svc-.*|svc-internal-.*)$/;
const setByGateway = 'this header is set by the gateway. Remove it';
const routesElsewhere = 'this header addresses a metadata service, a proxy or an internal router. Remove it';
const isOwn = (name: string) => isConnectionHeader(name) || ownHeaders.test(name);
const anyHeaderName = v.pipe(
  v.string(),
  v.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, 'not a header name'),
  v.check((value) => !isOwn(value.toLowerCase()), setByGateway),
  v.check((value) => !isUnforwardedHeader(value.toLowerCase()), routesElsewhere),
);
/** Credential headers carry the integration's own credential. */
const headerName = v.pipe(
  anyHeaderName,
  v.check((value) => !credentialHeaders.has(value.toLowerCase()), setByGateway),
);
const headerValue = v.pipe(v.string(), v.maxLength(4_096), v.regex(headerValuePattern, notHeaderValue));

/** Headers of every call of an integration. They are sealed. */
export const customHeaders = v.record(headerName, headerValue);

/** Headers of one model. Its host may need another credential than the integration's, so credential headers are allowed. */
export const modelHeaders = v.pipe(
  v.record(anyHeaderName, headerValue),
  v.check((value) => Object.keys(value).length <= 50, 'at most 50 headers'),
);
