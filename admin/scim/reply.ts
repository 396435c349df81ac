import { RawReply } from '../http/reply/raw-reply.ts';
import { listMessage } from './urns.ts';

/** Media type of RFC 7644 §8.1. */
export const mediaType = 'application/scim+json';

/** A JSON reply with the media type of SCIM. */
export function scimReply(
  body: object,
  { status = 200, headers = {} }: Partial<Pick<RawReply, 'status' | 'headers'>> = {},
): RawReply {
  return new RawReply(JSON.stringify(body), { 'content-type': mediaType, ...headers }, status);
}

/** A reply without a body. */
export function emptyReply(headers: Readonly<Record<string, string>> = {}, status: 204 | 304 = 204): RawReply {
  return new RawReply(null, headers, status);
}

/** A page of a list. `startIndex` counts from 1. */
export function listReply(resources: readonly object[], total: number, startIndex: number): RawReply {
  return scimReply({
    schemas: [listMessage],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  });
}

/** The entity tag of a resource. */
export function versionOf(revision: number): string {
  return `W/"${revision}"`;
}
