import {
  AuthorizationResponseError,
  OperationProcessingError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi';
import { OutboundError } from '../../http/gateways/gateway-fetch.ts';

/** A failure at the authorisation server. The message names the reason, without any credential. */
export class OAuthIssue extends Error {
  /** True if the credential is no longer valid, so that a repetition is useless. */
  readonly isFinal: boolean;
  /** True if the server does not accept the gateway as this client. */
  readonly rejectsClient: boolean;

  constructor(message: string, isFinal = false, rejectsClient = false) {
    super(message);
    this.isFinal = isFinal;
    this.rejectsClient = rejectsClient;
  }
}

/** Turns errors of the protocol library into an OAuthIssue. Rethrows everything else. */
export function toOAuthIssue(thrown: unknown): OAuthIssue {
  if (thrown instanceof OAuthIssue) return thrown;
  if (thrown instanceof OutboundError) return new OAuthIssue(`the authorisation server cannot be reached: ${thrown.message}`);
  if (thrown instanceof ResponseBodyError) {
    const text = thrown.error_description === undefined ? '' : `: ${printable(thrown.error_description)}`;
    return new OAuthIssue(
      `the authorisation server replied with ${printable(thrown.error)}${text}`,
      thrown.error === 'invalid_grant',
      thrown.error === 'invalid_client',
    );
  }
  if (thrown instanceof AuthorizationResponseError) {
    return new OAuthIssue(`the authorisation server refused: ${printable(thrown.error)}`, true);
  }
  if (thrown instanceof WWWAuthenticateChallengeError) {
    const { status } = thrown.response;
    return new OAuthIssue(`the authorisation server rejected the client (${status})`, false, status === 401);
  }
  if (thrown instanceof OperationProcessingError)
    return new OAuthIssue(`the authorisation server sent an invalid response: ${thrown.message}`);
  throw thrown;
}

/** Text of another host, on one line. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, ' ').slice(0, 200);
}
