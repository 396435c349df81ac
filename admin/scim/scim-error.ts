import { TooManyRequests } from '../http/caller/rate-limit.ts';
import { AdminError } from '../http/errors.ts';
import { mediaType } from './reply.ts';
import { errorMessage } from './urns.ts';

/** Detail codes of RFC 7644 §3.12. */
const scimTypes = [
  'invalidFilter',
  'invalidPath',
  'invalidSyntax',
  'invalidValue',
  'mutability',
  'noTarget',
  'uniqueness',
] as const;
type ScimType = (typeof scimTypes)[number];

/** JSON Schema of an error. */
export const errorSchema = {
  type: 'object',
  required: ['schemas', 'status', 'detail'],
  properties: {
    schemas: { type: 'array', items: { type: 'string', enum: [errorMessage] }, minItems: 1, maxItems: 1 },
    status: { type: 'string' },
    scimType: { enum: scimTypes },
    detail: { type: 'string' },
  },
};

/** A 400 with a detail code, or a 409 for `uniqueness`. */
export class ScimError extends AdminError {
  readonly scimType: ScimType;

  constructor(scimType: ScimType, message: string) {
    super(scimType === 'uniqueness' ? 'AB07' : 'AB01', message, [message]);
    this.name = 'ScimError';
    this.scimType = scimType;
  }
}

/** Converts an error to the reply of RFC 7644 §3.12. `detail` names the field. */
export function scimErrorReply(error: AdminError, extraHeaders: Record<string, string>): Response {
  const scimType = scimTypeOf(error);
  const body = {
    schemas: [errorMessage],
    status: String(error.status),
    ...(scimType === null ? {} : { scimType }),
    detail: error.errors && error.errors.length > 1 ? error.errors.join('; ') : error.message,
  };
  const headers: Record<string, string> = { 'content-type': mediaType, ...extraHeaders };
  // RFC 6750 §3.
  if (error.status === 401) headers['www-authenticate'] = 'Bearer';
  if (error.status === 503) headers['retry-after'] = '1';
  if (error instanceof TooManyRequests) headers['retry-after'] = String(error.retryAfterSeconds);
  return new Response(JSON.stringify(body), { status: error.status, headers });
}

function scimTypeOf(error: AdminError): ScimType | null {
  if (error instanceof ScimError) return error.scimType;
  if (error.status === 409) return 'uniqueness';
  if (error.status !== 400) return null;
  if (error.errors?.some((one) => /^(query\.)?filter\b/.test(one))) return 'invalidFilter';
  return error.errors?.some((one) => one.startsWith('body: ')) ? 'invalidSyntax' : 'invalidValue';
}
