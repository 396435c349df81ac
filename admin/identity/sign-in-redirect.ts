import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { RawReply } from '../http/reply/raw-reply.ts';

/** Maximum characters of an address: a longer one is rejected with 414. */
const addressLengthMax = 8_192;
/** Precedes a compressed path. Paths begin with a slash. */
const deflated = 'deflate:';

/**
 * Sends a browser to the page for signing in, and then back to this path of the service. A path that is too long for the address is compressed,
 * because its percent signs are encoded once more: a `state` of 2,048 encoded characters becomes 10,240.
 */
export function signInRedirect(path: string): RawReply {
  const plain = signInAddress(path);
  const location =
    plain.length <= addressLengthMax ? plain : signInAddress(deflated + deflateRawSync(path).toString('base64url'));
  return new RawReply('', { location }, 303);
}

/** Returns the path of a `return_to` parameter; undefined if it cannot be decompressed. */
export function readReturnTo(sent: string | undefined): string | undefined {
  if (!sent?.startsWith(deflated)) return sent;
  try {
    const bytes = Buffer.from(sent.slice(deflated.length), 'base64url');
    return inflateRawSync(bytes, { maxOutputLength: addressLengthMax }).toString('utf8');
  } catch {
    return undefined;
  }
}

function signInAddress(path: string): string {
  return `/v1/auth/sign-in?${new URLSearchParams({ return_to: path })}`;
}
