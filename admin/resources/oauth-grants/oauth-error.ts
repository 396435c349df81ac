import { RawReply } from '../../http/reply/raw-reply.ts';

/** An error of RFC 6749, sent as JSON or to the redirect URI. */
export class OAuthError extends Error {
  readonly error: string;
  readonly status: RawReply['status'];

  constructor(error: string, description: string, status: RawReply['status'] = 400) {
    super(description);
    this.error = error;
    this.status = status;
  }
}

/** Runs a handler and turns its OAuthError into the reply. */
export async function replyErrors(work: () => Promise<RawReply>): Promise<RawReply> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof OAuthError)) throw thrown;
    return jsonReply({ error: thrown.error, error_description: thrown.message }, thrown.status);
  }
}

/** Returns a reply that no client and no proxy may store, as RFC 6749 section 5.1 requires for tokens. */
export function jsonReply(body: object, status: RawReply['status'] = 200): RawReply {
  return new RawReply(JSON.stringify(body), { 'content-type': 'application/json', 'cache-control': 'no-store' }, status);
}
