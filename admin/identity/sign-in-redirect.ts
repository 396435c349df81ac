import { RawReply } from '../http/reply/raw-reply.ts';

/** Sends a browser to the page for signing in, and then back to this path of the service. */
export function signInRedirect(path: string): RawReply {
  return new RawReply('', { location: `/v1/auth/sign-in?${new URLSearchParams({ return_to: path })}` }, 303);
}
